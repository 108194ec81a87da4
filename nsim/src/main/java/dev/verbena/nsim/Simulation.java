package dev.verbena.nsim;

import dev.verbena.nsim.engine.Engine;
import dev.verbena.nsim.engine.EventTrace;
import dev.verbena.nsim.engine.Partitions;
import dev.verbena.nsim.network.Level;
import dev.verbena.nsim.network.LinkDetails;
import dev.verbena.nsim.network.NetworkContext;
import dev.verbena.nsim.network.NetworkModel;
import dev.verbena.nsim.network.PacketNetwork;
import dev.verbena.nsim.program.Interpreter;
import dev.verbena.nsim.program.MessageTrace;
import dev.verbena.nsim.program.Program;
import dev.verbena.nsim.program.Script;
import dev.verbena.nsim.program.SimulationException;
import dev.verbena.nsim.topology.Topology;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Consumer;

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
    private EventTrace events;
    private int partitions = 1;
    private int threads = 1;
    private Consumer<Runnable> helpers;
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

    /**
     * Divides the machine, for a run on several threads; the result is the same for any numbers.
     * Packet level only.
     *
     * @param parts how many partitions
     * @param threadCount how many threads work, the caller's included
     * @param on starts a task on another thread, as {@code executor::execute} of an executor that
     *     has {@code threadCount - 1} free ones; not used for one thread
     */
    public Simulation parallel(int parts, int threadCount, Consumer<Runnable> on) {
        if (parts < 1 || threadCount < 1) {
            throw new IllegalArgumentException(
                    parts + " partitions and " + threadCount + " threads; at least 1 is needed");
        }
        partitions = parts;
        threads = threadCount;
        helpers = on;
        return this;
    }

    /** Sets the receiver of progress. */
    public Simulation progress(ProgressHandler value) {
        progress = value;
        return this;
    }

    /** Sets the receiver of arrivals and completions; none by default. */
    public Simulation trace(MessageTrace value) {
        trace = value;
        return this;
    }

    /** Sets the receiver of each event, in their order; none by default. Not with partitions. */
    public Simulation events(EventTrace value) {
        events = value;
        return this;
    }

    /**
     * Runs a program to its end.
     *
     * @throws IllegalArgumentException if the machine has too few nodes, the program is wrong, or
     *     it takes longer than 2<sup>63</sup> ps
     * @throws SimulationException if it does not end; names a rank and what it waits for
     */
    public SimulationResult run(Program program) {
        return run(Script.record(processes, context.isLoopback(), context.shortMax(), program));
    }

    /** Runs what was recorded; see {@link #run(Program)}. */
    public SimulationResult run(Script script) {
        int nodes = (script.size() + perNode - 1) / perNode;
        if (nodes > topology.nodes()) {
            throw new IllegalArgumentException(
                    "%s processes, %s per node, need %s nodes; %s has %s"
                            .formatted(
                                    script.size(),
                                    perNode,
                                    nodes,
                                    topology.name(),
                                    topology.nodes()));
        }
        return partitions > 1 ? runInParts(script) : runAlone(script);
    }

    private SimulationResult runAlone(Script script) {
        Engine engine = new Engine(NetworkModel.entities(topology));
        engine.eventTrace(events);
        NetworkModel network = NetworkModel.of(engine, topology, context);
        Interpreter interpreter =
                new Interpreter(engine, network, script, perNode, NetworkModel.KINDS_FREE);
        interpreter.trace(trace);
        boolean isGoing = true;
        while (isGoing) {
            isGoing = engine.run(Long.MAX_VALUE, EVENTS_PER_PROGRESS);
            progress.onProgress(
                    interpreter.putsDone(), script.putCount(), engine.eventCount(), engine.nowPs());
        }
        if (!interpreter.isDone()) {
            throw new SimulationException(
                    stuck(interpreter.firstWaiting(), network.packetsInFlight()));
        }
        return new SimulationResult(
                topology,
                script,
                engine.eventCount(),
                engine.traceHash(),
                network.links(),
                network.details(),
                List.of(interpreter),
                rank -> 0);
    }

    private SimulationResult runInParts(Script script) {
        if (context.level() != Level.PACKET) {
            throw new IllegalArgumentException(
                    ("%s partitions at level %s; only the packet level can be divided, run the"
                                    + " others in one")
                            .formatted(
                                    partitions, context.level().name().toLowerCase(Locale.ROOT)));
        }
        if (trace != null || events != null) {
            throw new IllegalArgumentException(
                    "a trace of a run in " + partitions + " partitions; trace it in one");
        }
        int[] owners = PacketNetwork.owners(topology, partitions);
        Partitions parts = new Partitions(owners, partitions, PacketNetwork.lookaheadPs(context));
        List<PacketNetwork> networks = PacketNetwork.partitioned(parts, topology, context);
        List<Interpreter> interpreters = new ArrayList<>();
        for (int p = 0; p < partitions; p++) {
            interpreters.add(
                    new Interpreter(
                            parts.engine(p),
                            networks.get(p),
                            script,
                            perNode,
                            NetworkModel.KINDS_FREE));
        }
        parts.run(
                threads,
                helpers,
                p -> interpreters.get(p).putsDone(),
                (time, events, puts) -> progress.onProgress(puts, script.putCount(), events, time));
        int packets = networks.stream().mapToInt(PacketNetwork::packetsInFlight).sum();
        for (Interpreter interpreter : interpreters) {
            if (!interpreter.isDone()) {
                throw new SimulationException(stuck(interpreter.firstWaiting(), packets));
            }
        }
        return new SimulationResult(
                topology,
                script,
                parts.eventCount(),
                parts.traceHash(),
                networks.get(0).links(),
                details(networks),
                interpreters,
                rank -> owners[rank / perNode]);
    }

    private static LinkDetails details(List<PacketNetwork> networks) {
        LinkDetails all = networks.get(0).details();
        for (int p = 1; p < networks.size() && all != null; p++) {
            all.add(networks.get(p).details());
        }
        return all;
    }

    private static String stuck(String who, int packets) {
        if (packets == 0) {
            return who + ", and nothing is under way: nobody sends what it waits for";
        }
        return ("%s, and %s packets wait for one another: a deadlock of the network; "
                        + "routes need more classes of virtual channels")
                .formatted(who, packets);
    }
}
