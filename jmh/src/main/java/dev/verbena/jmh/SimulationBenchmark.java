package dev.verbena.jmh;

import dev.verbena.nsim.Simulation;
import dev.verbena.nsim.SimulationResult;
import dev.verbena.nsim.network.Level;
import dev.verbena.nsim.network.NetworkContext;
import dev.verbena.nsim.program.Program;
import dev.verbena.nsim.scenario.Scenario;
import dev.verbena.nsim.scenario.ScenarioOptions;
import dev.verbena.nsim.scenario.Scenarios;
import dev.verbena.nsim.topology.GridTopology;
import dev.verbena.nsim.topology.TieRule;
import dev.verbena.nsim.topology.Topology;
import dev.verbena.nsim.topology.TreeTopology;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.AuxCounters;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * The simulator on one core, and once on two: whole runs per second, and as further columns the
 * events and the data packets of those runs per second. A packet over r routers is 2 r + 4 events:
 * ready at each router, a credit for each, read, sent, arrived, written.
 */
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.SECONDS)
@Fork(3)
@Warmup(iterations = 3, time = 3)
@Measurement(iterations = 5, time = 3)
@State(Scope.Thread)
public class SimulationBenchmark {
    private static final int PAYLOAD = 2048;
    private static final int RING = 14;

    private final Scenario ring = Scenarios.named("random-ring");
    private final Scenario ringBarrier = Scenarios.named("ring-barrier");
    private final Scenario doubling = Scenarios.named("recursive-doubling");
    private final Topology torus = GridTopology.torus(TieRule.BALANCED, 8, 8, 8);
    private final Topology sixHops = GridTopology.torus(TieRule.BALANCED, RING);
    private final Topology tree = TreeTopology.leafSpine(128, 4, 4);

    private final Topology ringTree = TreeTopology.leafSpine(64, 4, 4);

    private ExecutorService helper;

    /** The second thread of parallel runs. */
    @Setup
    public void begin() {
        helper = Executors.newSingleThreadExecutor();
    }

    /** Ends it. */
    @TearDown
    public void end() {
        helper.shutdownNow();
    }

    /** What a run had, per second. */
    @AuxCounters(AuxCounters.Type.OPERATIONS)
    @State(Scope.Thread)
    public static class Rates {
        /** Events of the engine. */
        public long events;

        /** Packets with data. */
        public long packets;
    }

    private static SimulationResult count(SimulationResult result, Rates rates, long bytesPerPut) {
        rates.events += result.events();
        rates.packets += result.putCount() * ((bytesPerPut + PAYLOAD - 1) / PAYLOAD);
        return result;
    }

    /** 512 processes on a torus of 8 x 8 x 8, 100 kB to both neighbours in a random ring. */
    @Benchmark
    public SimulationResult randomRingOnTorus(Rates rates) {
        Program program = ring.program(torus.nodes(), new ScenarioOptions(1, 100_000));
        return count(new Simulation(torus, new NetworkContext()).run(program), rates, 100_000);
    }

    /** As {@link #randomRingOnTorus}, in two partitions on two threads, with the same result. */
    @Benchmark
    public SimulationResult randomRingOnTwoThreads(Rates rates) {
        Program program = ring.program(torus.nodes(), new ScenarioOptions(1, 100_000));
        Simulation simulation = new Simulation(torus, new NetworkContext());
        return count(simulation.parallel(2, 2, helper::execute).run(program), rates, 100_000);
    }

    /** 14 processes in a ring, 2 KiB packets to the one six cables away. */
    @Benchmark
    public SimulationResult packetsOverSixHops(Rates rates) {
        long bytes = 500L * PAYLOAD;
        Program program =
                rank -> {
                    rank.put((rank.rank() + 6) % RING, bytes, 0);
                    rank.poll(0);
                };
        return count(new Simulation(sixHops, new NetworkContext()).run(program), rates, bytes);
    }

    /** The ring barrier of 512 processes. */
    @Benchmark
    public SimulationResult ringBarrier(Rates rates) {
        Program program = ringBarrier.program(tree.nodes(), ScenarioOptions.DEFAULT);
        return count(new Simulation(tree, barrier()).run(program), rates, 8);
    }

    /** The barrier of 512 processes by recursive doubling. */
    @Benchmark
    public SimulationResult recursiveDoubling(Rates rates) {
        Program program = doubling.program(tree.nodes(), ScenarioOptions.DEFAULT);
        return count(new Simulation(tree, barrier()).run(program), rates, 8);
    }

    /** The paper's random ring of 512 processes on 256 nodes, 2 MB to both neighbours. */
    @Benchmark
    public SimulationResult randomRing(Rates rates) {
        Program program = ring.program(2 * ringTree.nodes(), ScenarioOptions.DEFAULT);
        Simulation simulation = new Simulation(ringTree, new NetworkContext());
        return count(simulation.processes(512).perNode(2).run(program), rates, 2_000_000);
    }

    /** As {@link #randomRing}, at message level. */
    @Benchmark
    public SimulationResult randomRingByMessages(Rates rates) {
        Program program = ring.program(2 * ringTree.nodes(), ScenarioOptions.DEFAULT);
        NetworkContext context = new NetworkContext().level(Level.MESSAGE);
        Simulation simulation = new Simulation(ringTree, context);
        return count(simulation.processes(512).perNode(2).run(program), rates, 2_000_000);
    }

    private static NetworkContext barrier() {
        return new NetworkContext().overheadPs(800_000).dmaRate(0);
    }
}
