package dev.verbena.examples.pic;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(60)
class PicPhysicsTest {
    private static final PicParameters SMALL =
            new PicParameters(40_000, 64, 10.2604, 0.2, 1.0, 0.02, 0.01, 1);

    private static PicSimulation run(PicParameters parameters, int steps) {
        PicSimulation simulation = PicSimulation.start(parameters, 0, 1, PicExchange.ALONE);
        for (int i = 0; i < steps; i++) {
            simulation.advance();
        }
        return simulation;
    }

    private static byte[] bytes(RestartFile file) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        file.write(
                (name, item) -> {
                    byte[] copy = new byte[item.remaining()];
                    item.get(copy);
                    out.writeBytes(copy);
                });
        return out.toByteArray();
    }

    @Test
    void shouldGiveTheTextbookGrowthRateOfColdBeams() {
        double k = Math.sqrt(3.0 / 8);
        assertThat(TwoStreamTheory.growthRate(k, 1, 0))
                .isEqualTo(Math.sqrt(1.0 / 8), within(1e-12));
        assertThat(TwoStreamTheory.growthRate(0.3, 1, 0)).isLessThan(Math.sqrt(1.0 / 8));
        assertThat(TwoStreamTheory.growthRate(1.01, 1, 0)).isZero();
    }

    @Test
    void shouldApproachTheColdGrowthRateWhenBeamsGetCold() {
        double k = 0.5;
        double cold = TwoStreamTheory.growthRate(k, 1, 0);
        assertThat(TwoStreamTheory.growthRate(k, 1, 1e-4)).isEqualTo(cold, within(1e-6));
        assertThat(TwoStreamTheory.growthRate(k, 1, 0.2)).isLessThan(cold);
        assertThat(TwoStreamTheory.growthRate(2, 1, 0.2)).isZero();
    }

    @ParameterizedTest
    @CsvSource({"10.2604, 1.0, 0.02", "10.2604, 1.0, 0.0", "14.0, 1.0, 0.1", "20.0, 1.5, 0.05"})
    void shouldGrowAsLinearTheorySays(double length, double speed, double thermal) {
        PicParameters parameters =
                new PicParameters(100_000, 64, length, 0.2, speed, thermal, 0.002, 7);
        GrowthFit fit = GrowthFit.of(run(parameters, 150).samples());
        assertThat(fit).isNotNull();
        double theory = TwoStreamTheory.growthRate(parameters);
        assertThat(fit.rate() / theory).isEqualTo(1, within(0.02));
    }

    @Test
    void shouldStayQuietWhenTheoryIsStable() {
        PicParameters stable = new PicParameters(40_000, 64, 4.0, 0.2, 1.0, 0.02, 0.001, 1);
        assertThat(TwoStreamTheory.growthRate(stable)).isZero();
        List<PicSample> samples = run(stable, 100).samples();
        double largest = samples.stream().mapToDouble(PicSample::fieldEnergy).max().orElse(1);
        assertThat(largest / samples.get(0).kineticEnergy()).isLessThan(1e-5);
    }

    @Test
    void shouldConserveEnergyAndMomentum() {
        List<PicSample> samples = run(SMALL, 120).samples();
        double first = samples.get(0).totalEnergy();
        double peakField = samples.stream().mapToDouble(PicSample::fieldEnergy).max().orElse(0);
        assertThat(peakField).isGreaterThan(0.05 * first);
        for (PicSample sample : samples) {
            assertThat(sample.totalEnergy() / first).isEqualTo(1, within(0.01));
            assertThat(sample.momentum() - samples.get(0).momentum()).isEqualTo(0, within(1e-7));
        }
    }

    @Test
    void shouldStartWithTheEnergyOfTheBeams() {
        PicSample first = run(SMALL, 1).samples().get(0);
        double thermal = 1 + 0.02 * 0.02;
        assertThat(first.kineticEnergy()).isEqualTo(0.5 * 10.2604 * thermal, within(0.002));
        double field = SMALL.perturbation() / SMALL.waveNumber();
        assertThat(first.amplitude()).isEqualTo(field, within(0.02 * field));
        assertThat(first.fieldEnergy())
                .isEqualTo(0.25 * field * field * 10.2604, within(0.05 * first.fieldEnergy()));
    }

    @Test
    void shouldSolveTheFieldOfAKnownCharge() {
        PicParameters parameters = new PicParameters(1 << 20, 64, 8, 0.1, 1, 0, 0.1, 0);
        PicGrid grid = new PicGrid(parameters);
        long[] charge = new long[66];
        long total = 0;
        for (int i = 0; i < 64; i++) {
            double density = 1 + 0.1 * Math.cos(2 * Math.PI * i / 64);
            charge[i] = Math.round(density * (1 << 20) / 64 * PicGrid.PARTICLE_CHARGE);
            total += charge[i];
        }
        charge[0] += (1L << 20) * PicGrid.PARTICLE_CHARGE - total;
        grid.solve(charge);
        double k = 2 * Math.PI / 8;
        for (int i = 0; i < 64; i++) {
            double expected = -0.1 / k * Math.sin(k * i / 8.0);
            assertThat(grid.field[i]).isEqualTo(expected, within(0.0003));
        }
    }

    @Test
    void shouldRefuseAGridThatLostCharge() {
        PicGrid grid = new PicGrid(SMALL);
        assertThatThrownBy(() -> grid.solve(new long[66]))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("40000");
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 3, 4})
    void shouldGiveTheSameBitsForAnyNumberOfProcesses(int count) throws Exception {
        PicSimulation alone = run(SMALL, 30);
        Threads.Exchange exchange = new Threads.Exchange(count, PicSimulation.sharedLength(SMALL));
        List<RestartFile> files =
                Threads.runAll(
                        count,
                        rank ->
                                () -> {
                                    PicSimulation part =
                                            PicSimulation.start(SMALL, rank, count, exchange);
                                    for (int i = 0; i < 30; i++) {
                                        part.advance();
                                    }
                                    return part.restartFile();
                                });
        List<Double> places = new ArrayList<>();
        List<Double> speeds = new ArrayList<>();
        for (RestartFile file : files) {
            assertThat(file.samples()).isEqualTo(alone.samples());
            for (int i = 0; i < file.places().length; i++) {
                places.add(file.places()[i]);
                speeds.add(file.speeds()[i]);
            }
        }
        RestartFile whole = alone.restartFile();
        assertThat(places).hasSize(40_000);
        for (int i = 0; i < places.size(); i++) {
            assertThat(places.get(i)).isEqualTo(whole.places()[i]);
            assertThat(speeds.get(i)).isEqualTo(whole.speeds()[i]);
        }
    }

    @Test
    void shouldContinueFromARestartFileWithTheSameBits() {
        PicSimulation straight = run(SMALL, 60);
        byte[] middle = bytes(run(SMALL, 24).restartFile());
        RestartFile file = RestartFile.decode("middle", ByteBuffer.wrap(middle));
        PicSimulation continued = PicSimulation.resume(SMALL, 0, 1, file, PicExchange.ALONE);
        assertThat(continued.step()).isEqualTo(24);
        for (int i = 0; i < 36; i++) {
            continued.advance();
        }
        assertThat(continued.samples()).isEqualTo(straight.samples());
        assertThat(bytes(continued.restartFile())).isEqualTo(bytes(straight.restartFile()));
    }

    @Test
    void shouldRefuseARestartFileOfAnotherRun() {
        RestartFile file = run(SMALL, 2).restartFile();
        PicParameters other = new PicParameters(40_000, 64, 10.0, 0.2, 1.0, 0.02, 0.01, 1);
        assertThatThrownBy(() -> PicSimulation.resume(other, 0, 1, file, PicExchange.ALONE))
                .isInstanceOf(RestartFileException.class)
                .hasMessageContaining("length is 10.2604, the input deck says 10.0");
        assertThatThrownBy(() -> PicSimulation.resume(SMALL, 1, 2, file, PicExchange.ALONE))
                .isInstanceOf(RestartFileException.class)
                .hasMessageContaining("rank");
    }
}
