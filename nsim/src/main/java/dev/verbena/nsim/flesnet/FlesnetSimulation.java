package dev.verbena.nsim.flesnet;

import dev.verbena.agent.ProtocolAgent;
import dev.verbena.flesnet.FlesnetCompute;
import dev.verbena.flesnet.FlesnetContext;
import dev.verbena.flesnet.FlesnetException;
import dev.verbena.flesnet.FlesnetInput;
import dev.verbena.flesnet.FlesnetNode;
import dev.verbena.flesnet.MicrosliceSource;
import dev.verbena.flesnet.TimesliceHandler;
import dev.verbena.nsim.network.NetworkContext;
import dev.verbena.nsim.topology.Topology;
import dev.verbena.nsim.world.SimulatedProcess;
import dev.verbena.nsim.world.World;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

/**
 * A run of FLESnet in virtual time: every node is a process on a host of its own, and runs the
 * engines that everybody runs. One thread.
 */
public final class FlesnetSimulation implements AutoCloseable {
    private static final String DIRECTORY = "shared";

    private final World world;
    private final UnaryOperator<FlesnetContext> change;
    private final List<Node<FlesnetInput>> inputs = new ArrayList<>();
    private final List<Node<FlesnetCompute>> computes = new ArrayList<>();

    /** Nodes up to these have ended, and end once only: each is looked at until then. */
    private int inputsEnded;

    private int computesEnded;
    private boolean hasFailed;

    /**
     * A node with the process that runs it.
     *
     * @param process on a host of its own
     * @param node whose agent it runs
     */
    public record Node<N extends FlesnetNode>(SimulatedProcess process, N node) {
        private boolean hasEnded() {
            return process.isDead() || node.isDone();
        }
    }

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
    public Node<FlesnetCompute> compute(TimesliceHandler handler) {
        int index = computes.size();
        SimulatedProcess process = world.host("compute" + index).start("compute");
        return start(computes, process, FlesnetCompute.embed(context(process), index, handler));
    }

    /** Starts the next input node. */
    public Node<FlesnetInput> input(MicrosliceSource source) {
        int index = inputs.size();
        SimulatedProcess process = world.host("input" + index).start("input");
        return start(inputs, process, FlesnetInput.embed(context(process), index, source));
    }

    private <N extends FlesnetNode> Node<N> start(
            List<Node<N>> nodes, SimulatedProcess process, N node) {
        process.run(List.of(new WatchedAgent(node)));
        Node<N> started = new Node<>(process, node);
        nodes.add(started);
        return started;
    }

    /** The network and its time. */
    public World world() {
        return world;
    }

    /** Input nodes. */
    public List<Node<FlesnetInput>> inputs() {
        return inputs;
    }

    /** Compute nodes. */
    public List<Node<FlesnetCompute>> computes() {
        return computes;
    }

    /** Whether every node that lives has ended in order. */
    public boolean isDone() {
        while (inputsEnded < inputs.size() && inputs.get(inputsEnded).hasEnded()) {
            inputsEnded++;
        }
        while (computesEnded < computes.size() && computes.get(computesEnded).hasEnded()) {
            computesEnded++;
        }
        return inputsEnded == inputs.size() && computesEnded == computes.size();
    }

    /** Why the first node that did not end in order has not; empty if all have, or still run. */
    public String failure() {
        return Stream.<Node<?>>concat(inputs.stream(), computes.stream())
                .map(each -> each.node().failure())
                .filter(Objects::nonNull)
                .findFirst()
                .map(FlesnetException::getMessage)
                .orElse("");
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
        private final FlesnetNode node;
        private final ProtocolAgent agent;

        WatchedAgent(FlesnetNode node) {
            this.node = node;
            this.agent = node.agent();
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
                hasFailed |= node.failure() != null;
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
