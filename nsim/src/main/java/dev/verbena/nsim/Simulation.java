package dev.verbena.nsim;

import dev.verbena.nsim.engine.Engine;
import dev.verbena.nsim.network.NetworkContext;
import dev.verbena.nsim.network.PacketNetwork;
import dev.verbena.nsim.program.Interpreter;
import dev.verbena.nsim.program.MessageTrace;
import dev.verbena.nsim.program.Program;
import dev.verbena.nsim.program.Script;
import dev.verbena.nsim.topology.Topology;

/**
 * Runs programs on a modelled machine. Each run begins with an idle network at time 0; runs do not
 * influence one another. One thread at a time.
 *
 * <pre>{@code
 * Topology torus = GridTopology.torus(TieRule.BALANCED, 8, 8);
 * SimulationResult result =
 *         new Simulation(torus, new NetworkContext()).processes(64).run(program);
 * System.out.println(result.executionPs() / 1e6 + " us");
 * }</pre>
 */
public final class Simulation {
    private static final long EVENTS_PER_PROGRESS = 1 << 18;

    private final Topology topology;
    private final NetworkContext context;
    private int processes;
    private int perNode = 1;
    private MessageTrace trace;
    private ProgressHandler progress = (done, total, events, time) -> {};

    /** A machine of which every node has one process. */
    public Simulation(Topology topology, NetworkContext context) {
        this.topology = topology;
        this.context = context;
        processes = topology.nodes();
    }

    /** How many processes a program has; they are on the first nodes. */
    public Simulation processes(int value) {
        processes = value;
        return this;
    }

    /**
     * How many processes share a node and its network interface; process r is on node r / value.
     */
    public Simulation perNode(int value) {
        if (value < 1) {
            throw new IllegalArgumentException(value + " processes per node; at least 1 is needed");
        }
        perNode = value;
        return this;
    }

    /** Who learns how far a run is. */
    public Simulation progress(ProgressHandler value) {
        progress = value;
        return this;
    }

    /** Who learns what becomes of messages; nobody by default. */
    public Simulation trace(MessageTrace value) {
        trace = value;
        return this;
    }

    /**
     * Runs a program to its end.
     *
     * @throws IllegalArgumentException if the machine has too few nodes, or the program is wrong
     * @throws SimulationException if it comes to no end; says what who waits for
     */
    public SimulationResult run(Program program) {
        return run(Script.record(processes, context.isLoopback(), context.shortMax(), program));
    }

    /** Runs what was recorded; see {@link #run(Program)}. */
    public SimulationResult run(Script script) {
        int nodes = (script.size() + perNode - 1) / perNode;
        if (nodes > topology.nodes()) {
            throw new IllegalArgumentException(
                    script.size()
                            + " processes, "
                            + perNode
                            + " per node, need "
                            + nodes
                            + " nodes; "
                            + topology.name()
                            + " has "
                            + topology.nodes());
        }
        Engine engine = new Engine(PacketNetwork.entities(topology));
        PacketNetwork network = new PacketNetwork(engine, topology, context);
        Interpreter interpreter =
                new Interpreter(engine, network, script, perNode, PacketNetwork.KINDS_FREE);
        interpreter.trace(trace);
        boolean isGoing = true;
        while (isGoing) {
            isGoing = engine.run(Long.MAX_VALUE, EVENTS_PER_PROGRESS);
            progress.onProgress(
                    interpreter.putsDone(), script.putCount(), engine.eventCount(), engine.nowPs());
        }
        if (!interpreter.isDone()) {
            throw new SimulationException(stuck(interpreter, network));
        }
        return new SimulationResult(topology, script, engine, network, interpreter);
    }

    private static String stuck(Interpreter interpreter, PacketNetwork network) {
        String who = interpreter.firstWaiting();
        int packets = network.packetsInFlight();
        if (packets == 0) {
            return who + ", and nothing is under way: nobody sends what it waits for";
        }
        return who
                + ", and "
                + packets
                + " packets wait for one another: a deadlock of the network; routes need more classes of virtual channels";
    }
}
