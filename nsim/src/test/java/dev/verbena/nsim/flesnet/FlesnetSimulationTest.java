package dev.verbena.nsim.flesnet;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.flesnet.ComponentFlyweight;
import dev.verbena.flesnet.DescriptorMode;
import dev.verbena.flesnet.FlesnetCompute;
import dev.verbena.flesnet.FlesnetContext;
import dev.verbena.flesnet.FlesnetInput;
import dev.verbena.flesnet.InputLossPolicy;
import dev.verbena.flesnet.MicrosliceFlyweight;
import dev.verbena.flesnet.MicrosliceSink;
import dev.verbena.flesnet.MicrosliceSource;
import dev.verbena.flesnet.PatternSource;
import dev.verbena.flesnet.Timeslice;
import dev.verbena.flesnet.TimesliceHandler;
import dev.verbena.flesnet.dfs.DfsParameters;
import dev.verbena.nsim.network.NetworkContext;
import dev.verbena.nsim.topology.TreeTopology;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.UnaryOperator;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** FLESnet's own engines in virtual time, with nodes that are killed. */
@Timeout(120)
class FlesnetSimulationTest {
    private static final long MS = 1_000_000;

    /** Looks at every byte, remembers which timeslices came, releases them. */
    private static final class Consumer implements TimesliceHandler {
        final List<Long> indices = new ArrayList<>();
        final List<Integer> flags = new ArrayList<>();
        final List<Long> spreads = new ArrayList<>();

        @Override
        public void onTimeslice(Timeslice timeslice) {
            for (int i = 0; i < timeslice.componentCount(); i++) {
                if (timeslice.hasComponent(i)) {
                    check(timeslice, i);
                }
            }
            indices.add(timeslice.index());
            flags.add(timeslice.flags());
            spreads.add(timeslice.arrivalSpreadNs());
            timeslice.release();
        }

        private static void check(Timeslice timeslice, int input) {
            byte[] bytes = new byte[timeslice.size(input)];
            timeslice.copy(input, 0, bytes, 0, bytes.length);
            UnsafeBuffer buffer = new UnsafeBuffer(bytes);
            MicrosliceFlyweight microslice = new MicrosliceFlyweight();
            int count = timeslice.microsliceCount(input);
            int at = 32 * count;
            for (int m = 0; m < count; m++) {
                microslice.wrap(buffer, 32 * m).check();
                assertThat(microslice.equipment()).isEqualTo(input);
                assertThat(microslice.index()).isEqualTo(timeslice.index() * 4 + m);
                int size = (int) microslice.size();
                assertThat(PatternSource.isRamp(buffer, at, size, input)).isTrue();
                at += size;
            }
            assertThat(at).isEqualTo(bytes.length);
        }
    }

    // --long: 60 seeds of kills and of other faults together instead of 6
    private static final long SEEDS = Boolean.getBoolean("verbena.long") ? 60 : 6;

    private final List<Consumer> consumers = new ArrayList<>();

    private FlesnetSimulation simulation(
            long seed, int inputs, int computes, UnaryOperator<FlesnetContext> change) {
        consumers.clear();
        return new FlesnetSimulation(
                seed,
                TreeTopology.single(inputs + computes),
                new NetworkContext(),
                context ->
                        change.apply(
                                context.nodes(inputs, computes)
                                        .timeslice(4, 1)
                                        .rings(14, 3)
                                        .sourceRing(18, 10)));
    }

    private void start(FlesnetSimulation simulation, int inputs, int computes, int timeslices) {
        for (int c = 0; c < computes; c++) {
            Consumer consumer = new Consumer();
            consumers.add(consumer);
            simulation.compute(consumer);
        }
        for (int i = 0; i < inputs; i++) {
            simulation.input(new PatternSource(i, timeslices * 4L + 1, 256, 128, 0));
        }
    }

    /**
     * What nodes that live have delivered, and what the dead one had: its timeslices and how often.
     */
    private TreeMap<Long, Integer> delivered(int... nodes) {
        TreeMap<Long, Integer> count = new TreeMap<>();
        for (int node : nodes) {
            consumers.get(node).indices.forEach(t -> count.merge(t, 1, Integer::sum));
        }
        return count;
    }

    @Test
    @Tag("flesnet-18")
    @Tag("flesnet-19")
    void shouldBuildEverythingAndRepeatTheRun() {
        long[] hashes = new long[2];
        for (int run = 0; run < 2; run++) {
            try (FlesnetSimulation simulation = simulation(3, 4, 3, c -> c)) {
                start(simulation, 4, 3, 300);
                assertThat(simulation.run(10_000 * MS)).as(simulation.failure()).isTrue();
                assertThat(delivered(0, 1, 2))
                        .hasSize(300)
                        .allSatisfy((t, n) -> assertThat(n).isEqualTo(1));
                assertThat(consumers.get(1).indices).allMatch(t -> t % 3 == 1);
                hashes[run] = simulation.world().traceHash();
            }
        }
        assertThat(hashes[1]).isEqualTo(hashes[0]);
    }

    /** However many connections there are: four of a compute node, five of an input. */
    @Test
    void shouldRegisterAsFewRegionsForManyConnectionsAsForFew() {
        for (int inputs : new int[] {1, 6}) {
            try (FlesnetSimulation simulation = simulation(4, inputs, 3, c -> c)) {
                start(simulation, inputs, 3, 100);
                simulation.world().run(20 * MS);
                assertThat(simulation.world().regionCount()).isEqualTo(3 * 4 + inputs * 5);
            }
        }
    }

    /** Every consumer looks at every byte, and stale bytes have another microslice's number. */
    @Test
    @Tag("flesnet-11")
    @Tag("flesnet-12")
    void shouldReadNothingThatHasNotArrivedWhenWritesAreLate() {
        for (DescriptorMode mode : DescriptorMode.values()) {
            try (FlesnetSimulation simulation = simulation(8, 3, 2, c -> c.descriptorMode(mode))) {
                simulation.world().delays(3, 200_000);
                start(simulation, 3, 2, 400);
                assertThat(simulation.run(60_000 * MS)).as(simulation.failure()).isTrue();
                assertThat(delivered(0, 1)).hasSize(400);
            }
        }
    }

    @Test
    @Tag("flesnet-45")
    void shouldLoseNothingWhenAComputeNodeIsKilled() {
        for (long seed = 1; seed <= SEEDS; seed++) {
            try (FlesnetSimulation simulation =
                    simulation(seed, 4, 3, c -> quick(c).dfs(null, 0))) {
                simulation.world().randomSchedule(2000);
                start(simulation, 4, 3, 600);
                killAfter(simulation, 1, 40 + 25 * (int) (seed % 6));
                assertThat(simulation.run(60_000 * MS)).as(simulation.failure()).isTrue();
                requireWhole(600, 1);
            }
        }
    }

    private static FlesnetContext quick(FlesnetContext context) {
        return context.heartbeatNs(5 * MS);
    }

    /** Kills when this node has delivered so many. */
    private void killAfter(FlesnetSimulation simulation, int node, int count) {
        boolean isThere =
                simulation
                        .world()
                        .runUntil(() -> consumers.get(node).indices.size() >= count, 10_000 * MS);
        assertThat(isThere).as(simulation.failure()).isTrue();
        simulation.world().crash(simulation.computes().get(node).process().host());
    }

    /** Live nodes have all that the dead did not deliver, none twice. */
    private void requireWhole(int timeslices, Integer... dead) {
        List<Integer> isDead = List.of(dead);
        TreeSet<Long> ofTheDead = new TreeSet<>();
        TreeMap<Long, Integer> ofTheLiving = new TreeMap<>();
        for (int c = 0; c < consumers.size(); c++) {
            if (isDead.contains(c)) {
                ofTheDead.addAll(consumers.get(c).indices);
            } else {
                consumers.get(c).indices.forEach(t -> ofTheLiving.merge(t, 1, Integer::sum));
            }
        }
        assertThat(ofTheLiving.values()).containsOnly(1);
        for (long t = 0; t < timeslices; t++) {
            assertThat(ofTheLiving.containsKey(t) || ofTheDead.contains(t)).as("%s", t).isTrue();
        }
        // What the dead node has delivered unnoticed is built again: at most its rings.
        TreeSet<Long> both = new TreeSet<>(ofTheDead);
        both.retainAll(ofTheLiving.keySet());
        assertThat(both.size()).isLessThanOrEqualTo(8 * isDead.size());
    }

    @Test
    @Tag("flesnet-46")
    void shouldSurviveTwoFailures() {
        for (long seed = 1; seed <= SEEDS; seed++) {
            try (FlesnetSimulation simulation = simulation(seed, 3, 4, c -> quick(c))) {
                simulation.world().randomSchedule(2000);
                start(simulation, 3, 4, 800);
                killAfter(simulation, 2, 60);
                if (seed % 2 == 0) {
                    simulation.world().run(seed % 8 * 20 * MS);
                }
                simulation.world().crash(simulation.computes().get(0).process().host());
                assertThat(simulation.run(60_000 * MS)).as(simulation.failure()).isTrue();
                requireWhole(800, 0, 2);
            }
        }
    }

    @Test
    @Tag("flesnet-45")
    void shouldLoseNothingWhenAScheduledComputeNodeIsKilled() {
        try (FlesnetSimulation simulation =
                simulation(5, 4, 3, c -> quick(c).dfs(DfsParameters.PAPER.intervals(30, 3), 2))) {
            start(simulation, 4, 3, 900);
            killAfter(simulation, 0, 100);
            assertThat(simulation.run(60_000 * MS)).as(simulation.failure()).isTrue();
            requireWhole(900, 0);
            assertThat(simulation.computes().get(1).node().statistics().lastProposed())
                    .isGreaterThan(15);
        }
    }

    /**
     * One arrival in a hundred is late by a hundred times what it takes, steps come in any order,
     * an input is slow, another one's clock goes wrong, and a compute node is killed.
     */
    @Test
    @Tag("nsim-46")
    @Tag("flesnet-18")
    @Tag("flesnet-45")
    void shouldLoseNothingWhateverComesTogether() {
        for (long seed = 1; seed <= SEEDS; seed++) {
            int replicas = (int) (seed % 3);
            int dead = (int) (seed / 3 % 3);
            DfsParameters dfs = replicas == 0 ? null : DfsParameters.PAPER.intervals(30, 3);
            try (FlesnetSimulation simulation =
                    simulation(seed, 4, 3, c -> quick(c).dfs(dfs, replicas))) {
                simulation.world().randomSchedule(2000).delays(100, 300_000);
                start(simulation, 4, 3, 600);
                simulation.inputs().get((int) (seed % 4)).process().slowness(4);
                simulation.world().host("input" + (seed + 1) % 4).clock(0, seed % 2 * 200 - 100);
                killAfter(simulation, dead, 40 + 25 * (int) (seed % 6));
                assertThat(simulation.run(60_000 * MS)).as(simulation.failure()).isTrue();
                requireWhole(600, dead);
            }
        }
    }

    @Test
    @Tag("flesnet-47")
    void shouldStopOrShrinkWhenAnInputIsKilled() {
        for (InputLossPolicy policy : InputLossPolicy.values()) {
            try (FlesnetSimulation simulation =
                    simulation(5, 3, 2, c -> quick(c).inputLoss(policy))) {
                start(simulation, 3, 2, 400);
                simulation
                        .world()
                        .runUntil(() -> consumers.get(0).indices.size() >= 50, 10_000 * MS);
                simulation.world().crash(simulation.inputs().get(1).process().host());
                boolean isWhole = simulation.run(60_000 * MS);
                if (policy == InputLossPolicy.FREEZE) {
                    assertThat(isWhole).isFalse();
                    assertThat(simulation.failure()).containsAnyOf("lost input 1", "aborted");
                } else {
                    assertThat(isWhole).as(simulation.failure()).isTrue();
                    assertThat(delivered(0, 1)).hasSize(400);
                    assertThat(consumers.get(0).flags.get(0)).isZero();
                    assertThat(consumers.get(0).flags.get(199)).isEqualTo(4);
                }
            }
        }
    }

    @Test
    void shouldNameAnInputThatEndsBeforeOthersOrGoOnWithout() {
        for (InputLossPolicy policy : InputLossPolicy.values()) {
            try (FlesnetSimulation simulation = simulation(6, 2, 2, c -> c.inputLoss(policy))) {
                start(simulation, 0, 2, 0);
                simulation.input(new PatternSource(0, 200 * 4 + 1, 256, 128, 0));
                simulation.input(new PatternSource(1, 50 * 4 + 1, 256, 128, 0));
                boolean isWhole = simulation.run(60_000 * MS);
                if (policy == InputLossPolicy.FREEZE) {
                    assertThat(isWhole).isFalse();
                    assertThat(simulation.computes())
                            .anySatisfy(
                                    c ->
                                            assertThat(c.node().failure())
                                                    .hasMessageContaining(
                                                            "input 1 has ended after 50"));
                } else {
                    assertThat(isWhole).as(simulation.failure()).isTrue();
                    assertThat(delivered(0, 1)).hasSize(200);
                    assertThat(consumers.get(0).flags.subList(0, 25)).containsOnly(0);
                    assertThat(consumers.get(0).flags.subList(25, 100))
                            .containsOnly(ComponentFlyweight.MISSING_COMPONENT);
                }
            }
        }
    }

    /** Gives only what the source has that it wraps, and never says that this is all. */
    private record Stalled(MicrosliceSource few) implements MicrosliceSource {
        @Override
        public int poll(MicrosliceSink sink, long nowNs) {
            return few.poll(sink, nowNs);
        }

        @Override
        public boolean isEnded() {
            return false;
        }

        @Override
        public long nextDueNs() {
            return NEVER;
        }
    }

    @Test
    void shouldDeliverAnIncompleteTimesliceAfterATimeOut() {
        try (FlesnetSimulation simulation =
                simulation(2, 2, 1, c -> c.incompleteTimeoutNs(200 * MS))) {
            consumers.add(new Consumer());
            simulation.compute(consumers.get(0));
            simulation.input(new PatternSource(0, 40 * 4 + 1, 64, 0, 0));
            simulation.input(new Stalled(new PatternSource(1, 10 * 4 + 1, 64, 0, 0)));
            Consumer consumer = consumers.get(0);
            FlesnetSimulation.Node<FlesnetInput> whole = simulation.inputs().get(0);
            boolean isAll =
                    simulation
                            .world()
                            .runUntil(
                                    () ->
                                            consumer.indices.size() == 40
                                                    && whole.node().statistics().timeslices() == 40,
                                    60_000 * MS);
            assertThat(isAll).as(simulation.failure()).isTrue();
            assertThat(consumer.flags.subList(0, 10)).containsOnly(0);
            assertThat(consumer.flags.subList(10, 40))
                    .containsOnly(ComponentFlyweight.MISSING_COMPONENT);
            assertThat(simulation.computes().get(0).node().statistics().incompleteTimeslices())
                    .isEqualTo(30);
        }
    }

    @Test
    void shouldScheduleManyIntervals() {
        try (FlesnetSimulation simulation =
                simulation(9, 8, 4, c -> c.dfs(DfsParameters.PAPER.intervals(40, 3), 4))) {
            start(simulation, 8, 4, 2000);
            assertThat(simulation.run(60_000 * MS)).as(simulation.failure()).isTrue();
            assertThat(delivered(0, 1, 2, 3)).hasSize(2000);
            simulation
                    .computes()
                    .forEach(
                            c ->
                                    assertThat(c.node().statistics().lastProposed())
                                            .isGreaterThan(40));
            assertThat(simulation.inputs().get(0).node().statistics().openInterval())
                    .isGreaterThanOrEqualTo(49);
        }
    }

    /** Messages other than payload are small. */
    @Test
    @Tag("flesnet-53")
    void shouldSendFewBytesBesidePayload() {
        try (FlesnetSimulation simulation =
                simulation(
                        4,
                        4,
                        4,
                        c ->
                                c.timeslice(4, 0)
                                        .rings(20, 5)
                                        .sourceRing(22, 10)
                                        .dfs(DfsParameters.PAPER.intervals(40, 3), 4))) {
            for (int c = 0; c < 4; c++) {
                consumers.add(new Consumer());
                simulation.compute(consumers.get(c));
            }
            for (int i = 0; i < 4; i++) {
                simulation.input(new PatternSource(i, 4 * 400, (16 << 10) - 32, 0, 0));
            }
            assertThat(simulation.run(60_000 * MS)).as(simulation.failure()).isTrue();
            long payload = 0;
            long other = 0;
            for (FlesnetSimulation.Node<FlesnetInput> input : simulation.inputs()) {
                payload += input.node().statistics().payloadBytes();
                other += input.node().statistics().syncBytes();
                other += 36 * input.node().statistics().components();
            }
            for (FlesnetSimulation.Node<FlesnetCompute> compute : simulation.computes()) {
                other += compute.node().statistics().syncBytes();
            }
            assertThat(payload).isEqualTo(4L * 400 * (64 << 10));
            assertThat((double) other / payload).isLessThan(0.01);
        }
    }
}
