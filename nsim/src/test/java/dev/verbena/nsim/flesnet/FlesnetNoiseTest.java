package dev.verbena.nsim.flesnet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.flesnet.PatternSource;
import dev.verbena.nsim.flesnet.FlesnetExperiment.Disturbance;
import dev.verbena.nsim.flesnet.FlesnetExperiment.Outcome;
import dev.verbena.nsim.network.NetworkContext;
import dev.verbena.nsim.topology.TreeTopology;
import dev.verbena.nsim.world.World;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Noise costs time, repeats with its seed, and loses nothing; what disturbs is planned for. */
@Timeout(300)
class FlesnetNoiseTest {
    private static final int NODES = 3;
    private static final int TIMESLICES = 120;
    private static final long LIMIT_NS = 60_000_000_000L;

    /** How long a run took, its events and its number. */
    private record Cost(long ns, long events, long hash) {}

    private static Cost run(Consumer<World> noise, int slowness) {
        try (FlesnetSimulation simulation =
                new FlesnetSimulation(
                        1,
                        TreeTopology.single(2 * NODES),
                        new NetworkContext(),
                        c -> c.nodes(NODES, NODES).timeslice(4, 0).rings(14, 3))) {
            noise.accept(simulation.world());
            long[] delivered = new long[2];
            for (int i = 0; i < NODES; i++) {
                simulation.compute(
                        t -> {
                            delivered[0]++;
                            delivered[1] = simulation.world().nowNs();
                            t.release();
                        });
            }
            for (int i = 0; i < NODES; i++) {
                simulation
                        .input(new PatternSource(i, 4L * TIMESLICES, 256, 0, 0))
                        .process()
                        .slowness(slowness);
            }
            assertThat(simulation.run(LIMIT_NS)).as(simulation.failure()).isTrue();
            assertThat(delivered[0]).isEqualTo(TIMESLICES);
            return new Cost(
                    delivered[1] - World.BEGIN_NS,
                    simulation.world().eventCount(),
                    simulation.world().traceHash());
        }
    }

    @Test
    void shouldTakeLongerWhenPostsCostAndLongerStillOnASlowNode() {
        Cost quiet = run(world -> {}, 1);
        Cost posts = run(world -> world.noise().posts(20_000, 1_000), 1);
        Cost slow = run(world -> world.noise().posts(20_000, 1_000), 4);
        assertThat(posts.ns()).isGreaterThan(quiet.ns());
        assertThat(slow.ns()).isGreaterThan(posts.ns());
        assertThat(run(world -> world.noise().posts(20_000, 1_000), 4)).isEqualTo(slow);
    }

    @Test
    void shouldCarryOthersMessagesOnTheSameCables() {
        Cost quiet = run(world -> {}, 1);
        Cost others = run(world -> world.noise().others(65_536, 20_000), 1);
        assertThat(others.events()).isGreaterThan(quiet.events());
        assertThat(others.ns()).isGreaterThan(quiet.ns());
        assertThat(run(world -> world.noise().others(65_536, 20_000), 1)).isEqualTo(others);
    }

    /** Inputs that report a quarter more are planned for longer intervals. */
    @Test
    void shouldPlanForWhatInputsReport() {
        Outcome outcome =
                new FlesnetExperiment(2, 16, 26).paced(true).disturbance(Disturbance.REPORTS).run();
        long[] planned = outcome.plannedNs();
        long before = LongStream.of(planned).skip(12).limit(3).max().orElseThrow();
        assertThat(LongStream.of(planned).skip(17).max().orElseThrow()).isGreaterThan(before);
        assertThat(outcome.isOnce()).isTrue();
    }

    @Test
    void shouldSayWhichNoiseAFileLacks() {
        FlesnetNoise noise = new FlesnetNoise("noise.step = 3 fathoms\n");
        assertThatThrownBy(() -> noise.startsNs(new SplittableRandom(1), 2))
                .hasMessageContaining("noise.startSkew");
    }
}
