package dev.verbena.nsim.scenario;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.nsim.Machine;
import dev.verbena.nsim.Simulation;
import dev.verbena.nsim.SimulationResult;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class RandomRingTest {
    private static SimulationResult ring(int nodes, int processes, long bytes) {
        Scenario scenario = Scenarios.named("random-ring");
        String leaves = "leaves=" + nodes / 4;
        Machine machine =
                new Machine().set("topology", "fattree(levels=2,down=4,up=4," + leaves + ")");
        return new Simulation(machine.topology(), machine.network())
                .processes(processes)
                .perNode(2)
                .run(scenario.program(processes, new ScenarioOptions(1, bytes)));
    }

    @Test
    @Tag("nsim-38")
    void shouldReachTheDmasRateWithinASwitchAndLessBeyond() {
        double bound = 1.4;
        double four = ring(16, 4, 2_000_000).bandwidthPerProcess();
        double eight = ring(16, 8, 2_000_000).bandwidthPerProcess();
        double sixteen = ring(16, 16, 2_000_000).bandwidthPerProcess();
        double thirtyTwo = ring(16, 32, 2_000_000).bandwidthPerProcess();
        assertThat(four).isGreaterThan(0.85 * bound);
        assertThat(eight).isGreaterThan(0.85 * bound);
        assertThat(sixteen).isLessThan(Math.min(four, eight));
        assertThat(thirtyTwo).isLessThan(Math.min(four, eight));
    }

    @Test
    @Tag("nsim-38")
    void shouldNotRiseWithMoreProcesses() {
        double before = Double.MAX_VALUE;
        for (int processes = 32; processes <= 512; processes *= 2) {
            double now = ring(256, processes, 60_000).bandwidthPerProcess();
            assertThat(now).isLessThanOrEqualTo(1.03 * before);
            before = now;
        }
    }

    @Test
    void shouldHaveTheSameTraceForTheSameSeedOnly() {
        assertThat(ring(16, 16, 20_000).traceHash()).isEqualTo(ring(16, 16, 20_000).traceHash());
    }
}
