package dev.verbena.nsim.scenario;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.verbena.nsim.Machine;
import dev.verbena.nsim.Simulation;
import dev.verbena.nsim.SimulationResult;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The paper's way of measuring a machine, tried on machines whose figures are known. */
@Timeout(60)
class CalibrationTest {
    /** One router of 140 ns, two cables, 8 bytes. */
    private static final long NETWORK_PS = 140_000 + 2 * 600 + 2_000;

    private static SimulationResult run(Machine machine, String name, ScenarioOptions options) {
        return new Simulation(machine.topology(), machine.network())
                .processes(2)
                .run(Scenarios.named(name).program(2, options));
    }

    private static Machine machine(String latency, String rate) {
        return new Machine()
                .set("topology", "switch(2)")
                .set("node.overhead", latency)
                .set("dma.bandwidth", rate);
    }

    private static Calibration calibrate(Machine machine) {
        SimulationResult barrier = run(machine, Calibration.BARRIER, ScenarioOptions.DEFAULT);
        SimulationResult ring = run(machine, Calibration.RING, ScenarioOptions.DEFAULT);
        return Calibration.of(
                barrier.executionPs(), ring.executionPs(), ring.putBytes() / 2, NETWORK_PS);
    }

    @ParameterizedTest
    @Tag("nsim-57")
    @CsvSource({
        "600ns, 2.8e9, 600_000, 2_800_000_000",
        "800ns, 2.8e9, 800_000, 2_800_000_000",
        "900ns, 1.4e9, 900_000, 1_400_000_000",
        "2us, 700000000, 2_000_000, 700_000_000",
    })
    void shouldFindLatencyAndRateOfTheMachine(
            String latency, String rate, String expectedPs, String expectedRate) {
        Calibration found = calibrate(machine(latency, rate));
        double ps = Double.parseDouble(expectedPs.replace("_", ""));
        double perSecond = Double.parseDouble(expectedRate.replace("_", ""));
        assertThat((double) found.latencyPs()).isCloseTo(ps, within(0.02 * ps));
        assertThat((double) found.bytesPerSecond()).isCloseTo(perSecond, within(0.02 * perSecond));
    }

    /** A machine that is calibrated and one that has these figures predict the same. */
    @Test
    @Tag("nsim-57")
    void shouldPredictWhatTheMachineDoes() {
        Machine real = new Machine();
        new Calibration(700_000, 2_000_000_000L).apply(real, 8);
        SimulationResult barrier = run(real, Calibration.BARRIER, ScenarioOptions.DEFAULT);
        SimulationResult ring = run(real, Calibration.RING, ScenarioOptions.DEFAULT);
        Calibration found =
                Calibration.of(barrier.executionPs(), ring.executionPs(), ring.putBytes() / 2, 0);
        Machine predicted = new Machine();
        found.apply(predicted, 8);
        for (String name : new String[] {"ring-barrier", "random-ring", "particle-exchange"}) {
            ScenarioOptions options = new ScenarioOptions(1, 100_000);
            long one = time(real, name, options);
            long other = time(predicted, name, options);
            assertThat((double) other).isCloseTo(one, within(0.02 * one));
        }
    }

    private static long time(Machine machine, String name, ScenarioOptions options) {
        return new Simulation(machine.topology(), machine.network())
                .processes(8)
                .run(Scenarios.named(name).program(8, options))
                .executionPs();
    }
}
