package dev.verbena.nsim.flesnet;

import dev.verbena.agent.ProtocolAgent;
import dev.verbena.flesnet.FlesnetCompute;
import dev.verbena.flesnet.FlesnetContext;
import dev.verbena.flesnet.FlesnetInput;
import dev.verbena.flesnet.MicrosliceSource;
import dev.verbena.flesnet.TimesliceHandler;
import dev.verbena.nsim.network.NetworkContext;
import dev.verbena.nsim.topology.Topology;
import dev.verbena.nsim.world.SimulatedProcess;
import dev.verbena.nsim.world.World;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.UnaryOperator;

/**
 * A run of FLESnet in virtual time: every node is a process on a host of its own, and runs the
 * engines that everybody runs. One thread.
 */
public final class FlesnetSimulation implements AutoCloseable {
    private static final String DIRECTORY = "shared";

    private final World world;
    private final UnaryOperator<FlesnetContext> change;
    private final List<Input> inputs = new ArrayList<>();
    private final List<Compute> computes = new ArrayList<>();

    /** Nodes up to these have ended, and end once only: each is looked at until then. */
    private int inputsEnded;

    private int computesEnded;
    private boolean hasFailed;

    /**
     * An input node with the process that runs it.
     *
     * @param process on a host of its own
     * @param node whose agent it runs
     */
    public record Input(SimulatedProcess process, FlesnetInput node) {}

    /**
     * A compute node with the process that runs it.
     *
     * @param process on a host of its own
     * @param node whose agent it runs
     */
    public record Compute(SimulatedProcess process, FlesnetCompute node) {}

    /**
     * Nothing runs yet.
     *
     * @param change settings of the run; environment, directory and scheme are set already
     */
    public FlesnetSimulation(
            long seed,
            Topology topology,
            NetworkContext network,
            UnaryOperator<FlesnetContext> change) {
        this.world = new World(seed, topology, network);
        this.change = change;
    }

    private FlesnetContext context(SimulatedProcess process) {
        return change.apply(
                new FlesnetContext()
                        .environment(process)
                        .directory(DIRECTORY)
                        .scheme(World.SCHEME)
                        .peerTimeoutNs(50_000_000));
    }

    /** Starts the next compute node. */
    public Compute compute(TimesliceHandler handler) {
        int index = computes.size();
        SimulatedProcess process = world.host("compute" + index).start("compute");
        FlesnetCompute node = FlesnetCompute.embed(context(process), index, handler);
        process.run(List.of(new WatchedAgent(node.agent(), () -> node.failure() != null)));
        computes.add(new Compute(process, node));
        return computes.get(index);
    }

    /** Starts the next input node. */
    public Input input(MicrosliceSource source) {
        int index = inputs.size();
        SimulatedProcess process = world.host("input" + index).start("input");
        FlesnetInput node = FlesnetInput.embed(context(process), index, source);
        process.run(List.of(new WatchedAgent(node.agent(), () -> node.failure() != null)));
        inputs.add(new Input(process, node));
        return inputs.get(index);
    }

    /** The network and its time. */
    public World world() {
        return world;
    }

    /** Input nodes. */
    public List<Input> inputs() {
        return inputs;
    }

    /** Compute nodes. */
    public List<Compute> computes() {
        return computes;
    }

    /** Whether every node that lives has ended in order. */
    public boolean isDone() {
        while (inputsEnded < inputs.size() && hasEnded(inputs.get(inputsEnded))) {
            inputsEnded++;
        }
        while (computesEnded < computes.size() && hasEnded(computes.get(computesEnded))) {
            computesEnded++;
        }
        return inputsEnded == inputs.size() && computesEnded == computes.size();
    }

    private static boolean hasEnded(Input input) {
        return input.process().isDead() || input.node().isDone();
    }

    private static boolean hasEnded(Compute compute) {
        return compute.process().isDead() || compute.node().isDone();
    }

    /** Why the first node that did not end in order has not; empty if all have, or still run. */
    public String failure() {
        for (Input input : inputs) {
            if (input.node().failure() != null) {
                return input.node().failure().getMessage();
            }
        }
        for (Compute compute : computes) {
            if (compute.node().failure() != null) {
                return compute.node().failure().getMessage();
            }
        }
        return "";
    }

    /**
     * Runs until all live nodes have ended.
     *
     * @param limitNs of virtual time
     * @return false if they have not
     */
    public boolean run(long limitNs) {
        return world.runUntil(() -> hasFailed || isDone(), limitNs) && failure().isEmpty();
    }

    /**
     * A node's agent; its failure is noticed in its own step, so that nobody looks at all nodes.
     */
    private final class WatchedAgent implements ProtocolAgent {
        private final ProtocolAgent agent;
        private final BooleanSupplier failed;

        WatchedAgent(ProtocolAgent agent, BooleanSupplier failed) {
            this.agent = agent;
            this.failed = failed;
        }

        @Override
        public void onStart() {
            agent.onStart();
        }

        @Override
        public int doWork() throws Exception {
            try {
                return agent.doWork();
            } finally {
                hasFailed |= failed.getAsBoolean();
            }
        }

        @Override
        public long nextDeadlineNs() {
            return agent.nextDeadlineNs();
        }

        @Override
        public void onClose() {
            agent.onClose();
        }

        @Override
        public String roleName() {
            return agent.roleName();
        }
    }

    @Override
    public void close() {
        world.close();
    }
}
