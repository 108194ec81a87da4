package dev.verbena.nsim.world;

import dev.verbena.memory.OffHeapMemories;
import dev.verbena.nsim.engine.Engine;
import dev.verbena.nsim.internal.SplitMix64;
import dev.verbena.nsim.network.LinkStatistics;
import dev.verbena.nsim.network.NetworkContext;
import dev.verbena.nsim.network.NetworkModel;
import dev.verbena.nsim.topology.Topology;
import dev.verbena.transport.Transport;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.TransportException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import java.util.stream.Stream;

/**
 * Hosts on a modelled network, in virtual time that begins at 0. The same seed and the same calls
 * give the same run, event by event.
 *
 * <pre>{@code
 * try (World world = new World(7, TreeTopology.single(4), new NetworkContext())) {
 *     SimulatedProcess process = world.host("node0").start("server");
 *     DartServer server = DartServer.embed(new DartServer.Context().environment(process)...);
 *     process.run(server.agents());
 *     world.runUntil(server::isReady, 10_000_000_000L);
 * }
 * }</pre>
 *
 * <p>One thread runs it. Transports may be used by several threads outside of runs, as the contract
 * allows; then the order of what they do is theirs.
 */
public final class World implements AutoCloseable {
    static {
        // The first allocation opens the JDK package that Agrona's buffers need.
        OffHeapMemories.allocate(1).close();
    }

    /** Scheme of the transports. */
    public static final String SCHEME = "sim";

    static final long PS_PER_S = 1_000_000_000_000L;

    /** A time limit that does not end within the time that can be simulated, 106 days. */
    static final long NEVER_PS = Long.MAX_VALUE / 2;

    /** What clocks of processes show at the beginning, nanoseconds. */
    public static final long BEGIN_NS = 1_000_000_000L;

    private static final int STEP = NetworkModel.KINDS_FREE;
    private static final int CALL = STEP + 1;
    private static final int TICK = STEP + 2;
    private static final int DELIVERIES = STEP + 3;
    private static final int NOISE = DELIVERIES + Deliveries.KINDS;

    final Engine engine;
    final NetworkModel network;
    final Deliveries deliveries;
    final LinkFaults linkFaults = new LinkFaults();
    final SplittableRandom random;
    final Map<String, SimulatedTransport> transports = new TreeMap<>();
    final Map<String, StreamListener> listeners = new TreeMap<>();
    final StreamEnds streamEnds = new StreamEnds();
    final List<Work> works = new ArrayList<>();
    private final ArrayDeque<Work> freeWorks = new ArrayDeque<>();
    private final long seed;
    private final Map<String, Host> hosts = new LinkedHashMap<>();
    private final Map<String, Disk> shared = new TreeMap<>();
    private final TimedActions timedActions;
    private final Steps steps;
    final TimeAdvance timeAdvance;
    private final WorldNoise noise;
    final WorldMemory memory = new WorldMemory();
    private final ArrayDeque<Runnable> toDo = new ArrayDeque<>();
    private final Topology topology;
    private TraceHandler trace;
    private Runnable invariants = () -> {};
    private Throwable broken;
    private long numbers;
    private long hash;
    boolean isRunning;
    long cyclePs = 200_000;
    long streamLatencyPs = 20_000_000;
    long streamRate = 1_250_000_000L;
    int streamWindow = 256 * 1024;
    long creditPs = 1_000_000;
    long forcePs = 500_000_000;

    /** Most bytes of a transfer that are really copied; longer ones are sizes only. */
    int copiedMax = Integer.MAX_VALUE;

    /** One arrival in this many is late by {@link #latePs}; 0: none. */
    int lateOneIn;

    long latePs;

    /** A network at rest, without hosts. */
    public World(long seed, Topology topology, NetworkContext context) {
        this.seed = seed;
        this.topology = topology;
        engine = new Engine(NetworkModel.entities(topology));
        network = NetworkModel.of(engine, topology, context);
        deliveries = new Deliveries(this, DELIVERIES);
        network.handler(deliveries);
        random = stream("faults");
        steps = new Steps(this, STEP);
        timedActions = new TimedActions(engine, CALL);
        timeAdvance = new TimeAdvance(this, TICK);
        noise = new WorldNoise(this, NOISE, topology.nodes());
    }

    /** Processes are stepped in random order, and late by up to a number of nanoseconds. */
    public World randomSchedule(long jitterNs) {
        steps.random(stream("schedule"), jitterNs * 1000);
        return this;
    }

    /**
     * Counts what steps cost by this clock, in nanoseconds, for {@link #stepNs}; a run does not
     * depend on it.
     */
    public World wallClock(LongSupplier nanoseconds) {
        steps.wallClock(nanoseconds);
        return this;
    }

    /** What posts cost, and traffic of others; there is none unless it is set. */
    public WorldNoise noise() {
        return noise;
    }

    /** Byte streams between hosts: one way's latency, and each host's rate in each direction. */
    public World streams(long latencyNs, long bytesPerSecond) {
        if (bytesPerSecond < 1) {
            throw new IllegalArgumentException("stream rate " + bytesPerSecond + " is below 1");
        }
        streamLatencyPs = latencyNs * 1000;
        streamRate = bytesPerSecond;
        return this;
    }

    /** Bytes that a byte stream takes before its reader has read them; 256 KiB. */
    public World streamWindow(int bytes) {
        streamWindow = bytes;
        return this;
    }

    /** How long a disk takes to force or rename a file. */
    public World disks(long forceNs) {
        if (forceNs < 1) {
            throw new IllegalArgumentException("forcing takes " + forceNs + " ns; at least 1");
        }
        forcePs = forceNs * 1000;
        return this;
    }

    /**
     * Sizes only: puts and gets longer than this take their time and carry no bytes, writes to byte
     * streams carry this many bytes at most, memory longer than this that peers may only read is
     * the same for all. Memory that nobody touches costs nothing, and neither does copying it.
     * Environments say that payloads mean nothing.
     */
    public World sizeOnlyAbove(int bytes) {
        copiedMax = bytes;
        return this;
    }

    /** Makes one arrival in {@code oneIn} late by a number of nanoseconds. */
    public World delays(int oneIn, long nanoseconds) {
        lateOneIn = oneIn;
        latePs = nanoseconds * 1000;
        return this;
    }

    /** Sets the receiver of steps, arrivals and faults; null: none. */
    public World trace(TraceHandler value) {
        trace = value;
        return this;
    }

    /** Called after each step of a process; what it throws ends the run. */
    public World invariants(Runnable value) {
        invariants = value;
        return this;
    }

    /**
     * The host of this name; it is made when first asked for, on the next free node.
     *
     * @throws IllegalStateException if the topology has no node left
     */
    public Host host(String name) {
        Host host = hosts.get(name);
        if (host == null) {
            if (hosts.size() == topology.nodes()) {
                throw new IllegalStateException(
                        "there is no node left for host %s; the network has %s"
                                .formatted(name, topology.nodes()));
            }
            host = new Host(this, hosts.size(), name);
            hosts.put(name, host);
        }
        return host;
    }

    Host knownHost(String name) {
        return hosts.get(name);
    }

    /** Virtual nanoseconds since the beginning, and one second. */
    public long nowNs() {
        return BEGIN_NS + engine.nowPs() / 1000;
    }

    /** Events and steps of two runs with one number were the same. */
    public long traceHash() {
        return engine.traceHash() * 31 + hash;
    }

    /** Steps of processes so far. */
    public long stepCount() {
        return steps.count();
    }

    /** Steps so far of processes of this name. */
    public long stepCount(String process) {
        return named(process).mapToLong(one -> one.stepCount).sum();
    }

    /** What these steps took by the {@link #wallClock}, in nanoseconds. */
    public long stepNs(String process) {
        return named(process).mapToLong(one -> one.stepNs).sum();
    }

    private Stream<SimulatedProcess> named(String process) {
        return steps.processes().stream().filter(one -> one.name().equals(process));
    }

    /** How long the cable into a host's interface, or out of it, was busy so far; picoseconds. */
    public long cableBusyPs(Host host, boolean isInto) {
        LinkStatistics links = network.links();
        int node = host.index();
        return links.busyPs(
                isInto
                        ? links.linkOf(topology.routerOf(node), topology.portOf(node))
                        : links.linkOfNode(node));
    }

    /** Events of the network and of processes so far. */
    public long eventCount() {
        return engine.eventCount();
    }

    int add(SimulatedProcess process) {
        return steps.add(process);
    }

    long number() {
        return ++numbers;
    }

    /** A stream of chance of this name. */
    SplittableRandom stream(String name) {
        long z = seed;
        for (int i = 0; i < name.length(); i++) {
            z = SplitMix64.mix(z ^ name.charAt(i));
        }
        return new SplittableRandom(SplitMix64.mix(z));
    }

    void trace(String what, Object about) {
        hash = SplitMix64.mix(hash ^ engine.nowPs() ^ what.hashCode());
        if (trace != null) {
            trace.onTrace(engine.nowPs(), what, about);
        }
    }

    /** Runs something after a while. */
    public void after(long nanoseconds, Runnable action) {
        afterPs(ps(nanoseconds), 0, action);
    }

    /** Picoseconds of a time limit; {@link #NEVER_PS} for one above 53 days. */
    static long ps(long limitNs) {
        return limitNs >= NEVER_PS / 1000 ? NEVER_PS : Math.max(0, limitNs) * 1000;
    }

    /** Runs it after that time, unless that is {@link #NEVER_PS} or no time can be so late. */
    void afterPs(long picoseconds, int target, Runnable action) {
        if (picoseconds < NEVER_PS && picoseconds <= Long.MAX_VALUE - engine.nowPs()) {
            timedActions.after(picoseconds, target, action);
        }
    }

    Work work(int kind, SimulatedTransport from, SimulatedTransport to) {
        Work work = freeWorks.poll();
        if (work == null) {
            work = new Work(works.size());
            works.add(work);
        }
        work.begin(kind, from, to);
        return work;
    }

    void free(Work work) {
        freeWorks.push(work);
    }

    /** Something that blocks is done when the run has stopped for a moment. */
    void later(Runnable action) {
        toDo.add(action);
    }

    void wake(SimulatedProcess process) {
        steps.wake(process);
    }

    /** A process has had its step. */
    void stepped(SimulatedProcess process, long timePs, int work) {
        hash = SplitMix64.mix(hash ^ timePs ^ (long) work << 48 ^ process.number);
        if (trace != null && work != 0) {
            trace.onTrace(timePs, "work " + work, process);
        }
    }

    void check() {
        try {
            invariants.run();
        } catch (RuntimeException | AssertionError e) {
            broken = broken == null ? e : broken;
        }
    }

    /**
     * Runs until a condition holds.
     *
     * @param limitNs longest, in virtual time from now
     * @return false if it does not hold within the time, or nothing is left to happen
     * @throws IllegalStateException within a run
     */
    public synchronized boolean runUntil(BooleanSupplier condition, long limitNs) {
        if (isRunning) {
            throw new IllegalStateException("this world is running");
        }
        boolean[] isOver = new boolean[1];
        long longestPs = Math.min(ps(limitNs), Long.MAX_VALUE - engine.nowPs());
        long limitPs = engine.nowPs() + longestPs;
        timedActions.after(longestPs, 0, () -> isOver[0] = true);
        while (!condition.getAsBoolean()) {
            if (isOver[0] || broken != null) {
                rethrow();
                return false;
            }
            runEvent(limitPs);
            while (!toDo.isEmpty()) {
                toDo.poll().run();
            }
        }
        rethrow();
        return true;
    }

    /** Runs for a while. */
    public void run(long nanoseconds) {
        runUntil(() -> false, nanoseconds);
    }

    private void rethrow() {
        if (broken instanceof RuntimeException e) {
            throw e;
        }
        if (broken != null) {
            throw (AssertionError) broken;
        }
    }

    void runEvent(long limitPs) {
        isRunning = true;
        try {
            engine.run(limitPs, 1);
        } finally {
            isRunning = false;
        }
    }

    /**
     * Opens a transport for a process.
     *
     * @throws TransportException if the name is taken
     */
    public synchronized Transport open(SimulatedProcess process, TransportContext context) {
        context.conclude();
        if (!context.options().isEmpty()) {
            throw new IllegalArgumentException("sim has no options, not " + context.options());
        }
        if (process.failsOneIn > 0 && random.nextInt(process.failsOneIn) == 0) {
            throw new TransportException("open sim: the simulated NIC is out of order");
        }
        String name = context.name().isEmpty() ? "sim-" + number() : context.name();
        if (transports.containsKey(name)) {
            throw new TransportException("open sim: name '" + name + "' is taken");
        }
        SimulatedTransport made = new SimulatedTransport(process, name, context);
        transports.put(name, made);
        process.transports.add(made);
        return made;
    }

    Disk disk(Host host, String directory) {
        Map<String, Disk> disks = directory.startsWith("shared") ? shared : host.disks;
        return disks.computeIfAbsent(directory, d -> new Disk(this));
    }

    /** What a directory holds; an empty one is made if there is none. */
    public Disk disk(String host, String directory) {
        return disk(host(host), directory);
    }

    /**
     * Messages between these two wait until {@link #heal}; peers time out if that takes too long.
     */
    public void cut(Host from, Host to) {
        trace("cut", from + ">" + to);
        linkFaults.cut(from, to, engine.nowPs());
        deliveries.watchCut(from, to);
    }

    /** Ends a {@link #cut}. */
    public void heal(Host from, Host to) {
        trace("heal", from + ">" + to);
        linkFaults.heal(from, to);
        release();
    }

    private void release() {
        deliveries.release();
        streamEnds.retry();
    }

    /** Delays every byte between these two by {@code psPerByte}; 0: not at all. */
    public void slow(Host from, Host to, long psPerByte) {
        trace("slow", from + ">" + to);
        linkFaults.slow(from, to, psPerByte);
    }

    /** Nothing is cut or slow any more. */
    public void healAll() {
        linkFaults.healAll();
        release();
    }

    /** Steps no process of a host for a while; its network interface goes on. */
    public void freeze(Host host, long nanoseconds) {
        trace("freeze", host);
        host.freezeUntil(engine.nowPs() + nanoseconds * 1000);
        deliveries.watchFreeze(host);
    }

    /** Ends all processes of a host without notice to peers; bytes not forced may be gone. */
    public void crash(Host host) {
        trace("crash", host);
        host.crash();
    }

    /** A crashed host can have processes again. */
    public void restart(Host host) {
        host.restart();
    }

    /** Refuses one post in {@code oneIn} of this process with back pressure; 0: none. */
    public void refuse(SimulatedProcess process, int oneIn) {
        process.refuse(oneIn);
    }

    /** Fails one registration or opening in {@code oneIn} of this process; 0: none. */
    public void failRegistrations(SimulatedProcess process, int oneIn) {
        process.failRegistrations(oneIn);
    }

    /** Regions that are registered now. */
    public int regionCount() {
        return transports.values().stream().mapToInt(SimulatedTransport::regionCount).sum();
    }

    /** Kills what still runs, and frees all memory. */
    @Override
    public synchronized void close() {
        for (SimulatedProcess process : steps.processes()) {
            process.kill();
        }
        memory.close();
    }
}
