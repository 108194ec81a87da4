package dev.verbena.nsim.flesnet;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.flesnet.ComponentFlyweight;
import dev.verbena.flesnet.FlesnetCompute;
import dev.verbena.flesnet.FlesnetContext;
import dev.verbena.flesnet.FlesnetInput;
import dev.verbena.flesnet.InputLossPolicy;
import dev.verbena.flesnet.MicrosliceSink;
import dev.verbena.flesnet.MicrosliceSource;
import dev.verbena.flesnet.PatternSource;
import dev.verbena.flesnet.Timeslice;
import dev.verbena.flesnet.dfs.DfsParameters;
import dev.verbena.nsim.network.NetworkContext;
import dev.verbena.nsim.topology.TreeTopology;
import dev.verbena.nsim.world.SimulatedProcess;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.function.LongConsumer;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Compute nodes that are lost when inputs have ended, are lost or are late. */
@Timeout(120)
class FlesnetLossTest {
    private static final long MS = 1_000_000;
    private static final int NODES = 3;
    private static final int DEAD = 2;

    /** Slower than any run lasts. */
    private static final long STUCK = 1_000_000_000_000L;

    /** By compute node, how often it has delivered a timeslice, and its flags. */
    private final List<TreeMap<Long, Integer>> delivered = new ArrayList<>();

    private final TreeMap<Long, Integer> flags = new TreeMap<>();
    private final List<Timeslice> held = new ArrayList<>();
    private boolean isHolding;
    private LongConsumer whenDeadDelivers = timeslice -> {};
    private FlesnetSimulation simulation;

    /** Gives nothing while the time is between these. */
    private record Paused(PatternSource source, long fromNs, long untilNs, long beginNs)
            implements MicrosliceSource {
        @Override
        public int poll(MicrosliceSink sink, long nowNs) {
            long at = nowNs - beginNs;
            return at >= fromNs && at < untilNs ? 0 : source.poll(sink, nowNs);
        }

        @Override
        public boolean isEnded() {
            return source.isEnded();
        }

        @Override
        public long nextDueNs() {
            return source.nextDueNs();
        }
    }

    @AfterEach
    void close() {
        simulation.close();
    }

    private static PatternSource source(int input, int timeslices, long periodNs) {
        return new PatternSource(input, timeslices * 4L, 64, 0, periodNs);
    }

    private void start(UnaryOperator<FlesnetContext> change) {
        simulation =
                new FlesnetSimulation(
                        7,
                        TreeTopology.single(2 * NODES),
                        new NetworkContext(),
                        c ->
                                change.apply(
                                        c.nodes(NODES, NODES)
                                                .timeslice(4, 0)
                                                .rings(14, 3)
                                                .sourceRing(18, 10)
                                                .heartbeatNs(5 * MS)));
        for (int c = 0; c < NODES; c++) {
            int node = c;
            delivered.add(new TreeMap<>());
            simulation.compute(timeslice -> onTimeslice(node, timeslice));
        }
    }

    private void onTimeslice(int node, Timeslice timeslice) {
        delivered.get(node).merge(timeslice.index(), 1, Integer::sum);
        if (node == DEAD) {
            whenDeadDelivers.accept(timeslice.index());
        } else {
            flags.put(timeslice.index(), timeslice.flags());
        }
        if (isHolding) {
            held.add(timeslice);
        } else {
            timeslice.release();
        }
    }

    private SimulatedProcess dead() {
        return simulation.computes().get(DEAD).process();
    }

    /** What the dead node says to an input from now on does not arrive. */
    private void silence(int input) {
        simulation
                .world()
                .slow(dead().host(), simulation.inputs().get(input).process().host(), STUCK);
    }

    private void killAfter(int count, long pauseNs) {
        assertThat(
                        simulation
                                .world()
                                .runUntil(() -> delivered.get(DEAD).size() >= count, 1000 * MS))
                .as(simulation.failure())
                .isTrue();
        simulation.world().run(pauseNs);
        simulation.world().crash(dead().host());
    }

    /** Live nodes have each timeslice once that the dead node has not. */
    private void requireWhole(int timeslices) {
        assertThat(simulation.run(30_000 * MS)).as(simulation.failure()).isTrue();
        for (long t = 0; t < timeslices; t++) {
            int count = 0;
            for (int c = 0; c < DEAD; c++) {
                count += delivered.get(c).getOrDefault(t, 0);
            }
            boolean isOfTheDead = delivered.get(DEAD).containsKey(t);
            assertThat(count).as("%s", t).isBetween(isOfTheDead ? 0 : 1, 1);
        }
    }

    /** The input that has ended cannot leave, as the node to be lost never answers its end. */
    @Test
    void shouldTakeNothingBackForAnInputThatEndedBefore() {
        start(c -> c.inputLoss(InputLossPolicy.SHRINK));
        whenDeadDelivers =
                timeslice -> {
                    if (timeslice == 62) {
                        silence(1);
                    }
                };
        for (int i = 0; i < NODES; i++) {
            simulation.input(source(i, i == 1 ? 60 : 600, 10_000));
        }
        killAfter(100, 0);
        requireWhole(600);
        assertThat(flags.get(599L) & ComponentFlyweight.MISSING_COMPONENT).isPositive();
    }

    /** It has ended in order and is gone, with less than the others. */
    @Test
    void shouldGoOnWhenAComputeNodeIsLostAfterAnInputHasEnded() {
        start(c -> c.inputLoss(InputLossPolicy.SHRINK));
        for (int i = 0; i < NODES; i++) {
            simulation.input(source(i, i == 1 ? 60 : 600, 10_000));
        }
        killAfter(100, 0);
        assertThat(simulation.inputs().get(1).node().isDone()).isTrue();
        requireWhole(600);
    }

    /** Only inputs that have ended know that the lost node had released everything. */
    @Test
    void shouldOweNothingThatOnlyInputsKnowToBeDoneThatHaveEnded() {
        int timeslices = 300;
        start(c -> c);
        whenDeadDelivers =
                timeslice -> {
                    if (timeslice == timeslices - 1) {
                        silence(1);
                    }
                };
        for (int i = 0; i < NODES; i++) {
            simulation.input(source(i, timeslices, 10_000));
        }
        killAfter(timeslices / NODES, 5 * MS);
        requireWhole(timeslices);
        assertThat(flags.values()).containsOnly(0);
    }

    @Test
    void shouldGoOnFlaggedWithoutALostInputWhenThereIsATimeOut() {
        start(c -> c.incompleteTimeoutNs(2 * MS));
        for (int i = 0; i < NODES; i++) {
            simulation.input(source(i, 600, 10_000));
        }
        simulation.world().runUntil(() -> delivered.get(0).size() >= 50, 1000 * MS);
        simulation.world().crash(simulation.inputs().get(1).process().host());
        requireWhole(600);
        assertThat(flags.get(0L)).isZero();
        assertThat(flags.get(598L) & ComponentFlyweight.MISSING_COMPONENT).isPositive();
    }

    /** What the lost input had sent ahead is taken back with what the lost node owes. */
    @Test
    void shouldWaitForNothingOfALostInputThatIsTakenBack() {
        start(c -> c.inputLoss(InputLossPolicy.SHRINK));
        long beginNs = dead().nanoClock().nanoTime();
        for (int i = 0; i < NODES; i++) {
            PatternSource whole = source(i, 3000, 10_000);
            simulation.input(i == 1 ? new Paused(whole, 20 * MS, 20_000 * MS, beginNs) : whole);
        }
        simulation.world().run(40 * MS);
        simulation.world().crash(simulation.inputs().get(0).process().host());
        SimulatedProcess live = simulation.computes().get(0).process();
        simulation.world().runUntil(() -> !live.errors().isEmpty(), 10_000 * MS);
        simulation.world().crash(dead().host());
        requireWhole(3000);
    }

    private void holdAllWithoutALateInput() {
        isHolding = true;
        startWithALateInput(0, 40 * MS);
        simulation.world().run(35 * MS);
        assertThat(held).hasSize(NODES * 8).allMatch(timeslice -> !timeslice.hasComponent(1));
    }

    private void releaseAll() {
        isHolding = false;
        held.forEach(Timeslice::release);
        requireWhole(3000);
    }

    /** The late input goes on while the consumer has what was delivered without it. */
    @Test
    void shouldNotChangeATimesliceThatTheConsumerHas() {
        holdAllWithoutALateInput();
        simulation.world().run(60 * MS);
        assertThat(simulation.inputs().get(1).node().statistics().components()).isPositive();
        assertThat(held)
                .allMatch(timeslice -> !timeslice.hasComponent(1) && timeslice.size(1) == 0)
                .allMatch(t -> t.flags(1) == ComponentFlyweight.MISSING_COMPONENT);
        releaseAll();
    }

    /** The oldest of those is incomplete, and its time is over. */
    @Test
    void shouldSleepWhileTheConsumerHasAllTimesliceSlots() {
        holdAllWithoutALateInput();
        String name = dead().name();
        long before = simulation.world().stepCount(name);
        simulation.world().run(1 * MS);
        assertThat(simulation.world().stepCount(name) - before).isLessThan(NODES * 10);
        releaseAll();
    }

    /** Else its memory would go while the consumer still looks at it. */
    @Test
    void shouldNotEndBeforeItsConsumerIsDoneWhenAllInputsAreLost() {
        start(c -> c.inputLoss(InputLossPolicy.SHRINK));
        isHolding = true;
        for (int i = 0; i < NODES; i++) {
            simulation.input(source(i, 600, 10_000));
        }
        simulation.world().run(20 * MS);
        simulation.inputs().forEach(i -> simulation.world().crash(i.process().host()));
        FlesnetSimulation.Node<FlesnetCompute> live = simulation.computes().get(0);
        boolean haveGone =
                simulation
                        .world()
                        .runUntil(() -> live.process().errors().size() >= NODES, 20_000 * MS);
        assertThat(haveGone).as("%s", live.process().errors()).isTrue();
        simulation.world().run(100 * MS);
        assertThat(held).isNotEmpty();
        assertThat(live.node().failure()).isNull();
        isHolding = false;
        held.forEach(Timeslice::release);
        simulation.world().run(1000 * MS);
        assertThat(live.node().isDone()).isFalse();
        assertThat(live.node().failure()).hasMessageContaining("lost all inputs");
    }

    /** It stood still; others have built what it had not acknowledged. */
    @Test
    void shouldFailWhenAComputeNodeThatWasGivenUpGoesOn() {
        start(c -> c.inputLoss(InputLossPolicy.SHRINK));
        for (int i = 0; i < NODES; i++) {
            simulation.input(source(i, 1000, 10_000));
        }
        simulation.world().run(20 * MS);
        simulation.world().freeze(dead().host(), 300 * MS);
        simulation.world().run(1000 * MS);
        assertThat(simulation.computes().get(0).node().isDone()).isTrue();
        assertThat(simulation.computes().get(DEAD).node().isDone()).isFalse();
        assertThat(simulation.failure()).contains("lost all inputs");
    }

    /** Others have reported the node before it could find that it is gone. */
    @Test
    void shouldFailAnInputThatComesWhenAComputeNodeIsLost() {
        start(c -> c);
        for (int i = 0; i < NODES - 1; i++) {
            simulation.input(source(i, 600, 10_000));
        }
        simulation.world().run(20 * MS);
        simulation.world().crash(dead().host());
        simulation.world().run(60 * MS);
        FlesnetSimulation.Node<FlesnetInput> late =
                simulation.input(source(NODES - 1, 600, 10_000));
        simulation.world().runUntil(() -> late.node().failure() != null, 60_000 * MS);
        assertThat(late.node().failure()).hasMessageContaining("was lost before the run");
    }

    /** Timeslices were delivered that one input has not sent yet when a compute node is lost. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldDeliverNothingTwiceWhenAnInputIsLateAndAComputeNodeIsLost(boolean isPaced) {
        DfsParameters dfs = isPaced ? DfsParameters.PAPER.intervals(30, 3) : null;
        start(c -> c.incompleteTimeoutNs(2 * MS).dfs(dfs, 1));
        long beginNs = dead().nanoClock().nanoTime();
        for (int i = 0; i < NODES; i++) {
            PatternSource whole = source(i, 3000, 10_000);
            simulation.input(i == 1 ? new Paused(whole, 20 * MS, 90 * MS, beginNs) : whole);
        }
        simulation.world().run(40 * MS);
        simulation.world().crash(dead().host());
        requireWhole(3000);
    }

    /** One input is late; the others were sent all when everything was delivered without it. */
    private void startWithALateInput(long fromNs, long untilNs) {
        start(c -> c.incompleteTimeoutNs(2 * MS));
        long beginNs = dead().nanoClock().nanoTime();
        for (int i = 0; i < NODES; i++) {
            PatternSource whole = source(i, 3000, 10_000);
            simulation.input(i == 1 ? new Paused(whole, fromNs, untilNs, beginNs) : whole);
        }
    }

    @Test
    void shouldTakeNothingBackThatWasDeliveredToInputsThatHaveLeft() {
        startWithALateInput(20 * MS, 1000 * MS);
        FlesnetSimulation.Node<FlesnetInput> last = simulation.inputs().get(2);
        assertThat(simulation.world().runUntil(last.node()::isDone, 900 * MS)).isTrue();
        simulation.world().crash(dead().host());
        requireWhole(3000);
    }

    /** The lost node has answered the end of none: one stays, and is asked by the late one. */
    @Test
    void shouldTakeNothingBackThatWasDeliveredToAnInputThatHasEnded() {
        startWithALateInput(20 * MS, 1000 * MS);
        whenDeadDelivers =
                timeslice -> {
                    if (timeslice == 2939) {
                        silence(1);
                    }
                };
        // Acknowledgements of the last timeslice arrive, the answer to the end does not.
        killAfter(1000, 1_000);
        FlesnetSimulation.Node<FlesnetInput> late = simulation.inputs().get(1);
        simulation.world().runUntil(() -> !late.process().errors().isEmpty(), 100 * MS);
        FlesnetSimulation.Node<FlesnetInput> stays = simulation.inputs().get(2);
        assertThat(stays.node().statistics().timeslices()).isEqualTo(3000);
        assertThat(stays.node().isDone()).isFalse();
        requireWhole(3000);
    }

    /**
     * What is dealt anew comes after what one input had sent, of which the ring of another, with
     * larger contents, does not hold so much: it drops contents.
     */
    @Test
    void shouldGoOnWhenTheRingOfAnInputDoesNotHoldWhatAnotherHadSent() {
        start(c -> c.incompleteTimeoutNs(2 * MS));
        for (int i = 0; i < NODES; i++) {
            simulation.input(new PatternSource(i, 8000, i == 1 ? 2048 : 64, 0, 0));
        }
        killAfter(100, 0);
        requireWhole(2000);
        assertThat(simulation.inputs().get(1).node().statistics().droppedMicroslices())
                .isPositive();
        assertThat(flags.get(1999L)).isZero();
    }

    /**
     * Inputs that are ahead of another carry the decision out while a live compute node has not yet
     * looked at what they had written and take back.
     */
    @Test
    @Tag("flesnet-45")
    void shouldWriteOverNothingThatALateComputeNodeStillLooksAt() {
        start(c -> c.sourceRing(20, 12));
        long beginNs = dead().nanoClock().nanoTime();
        for (int i = 0; i < NODES; i++) {
            PatternSource whole = source(i, 1000, 20_000);
            simulation.input(i == 1 ? new Paused(whole, 41 * MS, 90 * MS, beginNs) : whole);
        }
        simulation.world().run(20 * MS);
        simulation.world().crash(dead().host());
        simulation.world().run(21 * MS);
        long frozenNs = 14 * MS;
        simulation.world().freeze(simulation.computes().get(0).process().host(), frozenNs);
        // Long enough for the rings to be full.
        simulation.world().run(4 * MS);
        assertThat(hasNoticed()).isFalse();
        assertThat(simulation.world().runUntil(this::hasNoticed, frozenNs - 5 * MS)).isTrue();
        requireWhole(1000);
    }

    /** Whether an input knows that a compute node is lost. */
    private boolean hasNoticed() {
        return simulation.inputs().stream().anyMatch(i -> !i.process().errors().isEmpty());
    }
}
