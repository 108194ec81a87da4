package dev.verbena.nsim.world;

import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;

/**
 * A node of the network: a clock, a network interface, a disk, and processes one after another.
 * Belongs to the world's thread.
 */
public final class Host {
    private static final long MILLION = 1_000_000;

    final World world;
    final List<SimulatedProcess> processes = new ArrayList<>();
    final TreeMap<String, Disk> disks = new TreeMap<>();
    private final int index;
    private final String name;
    private long skewNs;
    private long driftPpm;
    private long driftFromNs;
    private long driftedNs;
    boolean isDown;
    long frozenUntilPs;
    long streamRate;
    private long egressFreePs;
    private long ingressFreePs;

    Host(World world, int index, String name) {
        this.world = world;
        this.index = index;
        this.name = name;
    }

    /** Number of the node in the topology. */
    public int index() {
        return index;
    }

    /** What others connect streams to. */
    public String name() {
        return name;
    }

    /** Bytes per second of byte streams in each direction; 0 (default): the world's. */
    public Host streamRate(long bytesPerSecond) {
        if (bytesPerSecond < 0) {
            throw new IllegalArgumentException("stream rate " + bytesPerSecond + " is below 0");
        }
        streamRate = bytesPerSecond;
        return this;
    }

    /**
     * Sets the clock wrong.
     *
     * @param skewNs ahead of the true time
     * @param driftPpm how much faster it runs, parts per million
     */
    public Host clock(long skewNs, long driftPpm) {
        driftedNs = nanoTime() - world.nowNs();
        driftFromNs = world.nowNs();
        this.skewNs = skewNs;
        this.driftPpm = driftPpm;
        return this;
    }

    /** What its wall clock jumps by. */
    long skewNs() {
        return skewNs;
    }

    /** This host's time; only drift changes how fast it goes, it never goes back. */
    long nanoTime() {
        long now = world.nowNs();
        return now + driftedNs + drift(now - driftFromNs);
    }

    /** What the clock gains in a time, rounded down: less in each nanosecond than that has. */
    private long drift(long ns) {
        return ns / MILLION * driftPpm + Math.floorDiv(ns % MILLION * driftPpm, MILLION);
    }

    /** True nanoseconds that pass while this host's clock advances by {@code localNs}. */
    long trueNs(long localNs) {
        return localNs - drift(localNs) + (driftPpm == 0 ? 0 : 1 + localNs / MILLION);
    }

    /** A process begins here; what it runs is given to {@link SimulatedProcess#run}. */
    public SimulatedProcess start(String processName) {
        if (isDown) {
            throw new IllegalStateException(name + " is down");
        }
        SimulatedProcess process = new SimulatedProcess(this, processName);
        processes.add(process);
        return process;
    }

    /** All its processes end at once. */
    void crash() {
        isDown = true;
        for (SimulatedProcess process : processes) {
            process.kill();
        }
        processes.clear();
    }

    void restart() {
        isDown = false;
        frozenUntilPs = 0;
    }

    void freezeUntil(long timePs) {
        frozenUntilPs = timePs;
    }

    /** Bytes of a stream leave behind those before them; answers when the last has left. */
    long leave(long nowPs, long takesPs) {
        egressFreePs = Math.max(nowPs, egressFreePs) + takesPs;
        return egressFreePs;
    }

    /**
     * Bytes of a stream, of which the first and the last come at these times, enter behind those
     * before them; answers when the last is there.
     */
    long enter(long firstPs, long lastPs, long takesPs) {
        ingressFreePs = Math.max(lastPs, Math.max(firstPs, ingressFreePs) + takesPs);
        return ingressFreePs;
    }

    @Override
    public String toString() {
        return name;
    }
}
