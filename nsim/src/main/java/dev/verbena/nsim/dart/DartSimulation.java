package dev.verbena.nsim.dart;

import dev.verbena.agent.StagingEvents;
import dev.verbena.nsim.Machine;
import dev.verbena.nsim.network.NetworkContext;
import dev.verbena.nsim.topology.Topologies;
import dev.verbena.nsim.world.World;
import java.util.function.IntPredicate;
import java.util.function.LongSupplier;

/**
 * A staging run on a machine that one does not have: compute processes that compute and send,
 * servers that pull and stream, receivers. Answers where the time went. One run per object, one
 * thread.
 */
public final class DartSimulation {
    private static final long BOOT_NS = 60_000_000_000L;
    private static final long RUN_NS = 24 * 3_600_000_000_000L;
    private static final long GOODBYE_NS = 120_000_000_000L;
    private static final int REAL_BYTES = 4096;
    private static final int NODES_MAX = 1 << 17;
    private static final long PROGRESS_STEPS = 1 << 6;

    /** A launcher starts one process after the other. */
    private static final long START_EVERY_NS = 10_000;

    /** As a kernel grows it on a long, fast way. */
    private static final int STREAM_WINDOW = 4 << 20;

    private static final int BUFFER_MAX = 4 << 20;
    private static final int MESSAGES_MAX = 4095;

    private int nodes = 16;
    private int servers = 2;
    private int receivers;
    private int messages = 4;
    private int length = 1 << 20;
    private long computeNs = 100_000_000L;
    private int inFlight = 1;
    private long streamRate = 1_250_000_000L;
    private long streamLatencyNs = 50_000;
    private int bufferSize;
    private int warmUp;
    private int bufferCount = 16;
    private boolean isFilled;
    private long seed = 1;
    private Machine machine = new Machine();
    private IntPredicate progress = percent -> true;
    private LongSupplier wallClock = () -> 0;
    private DartWallTimes wallTimes;

    /** 16 compute nodes, 2 servers, 1 receiver, 4 messages of 1 MiB each. */
    public DartSimulation() {}

    /** Compute nodes, one process on each. */
    public DartSimulation nodes(int value) {
        nodes = range("nodes", value, 1, NODES_MAX);
        return this;
    }

    /** Servers; the first is the master. */
    public DartSimulation servers(int value) {
        servers = range("servers", value, 1, 1024);
        return this;
    }

    /** Receivers; servers use them in turn. Default: one for four servers. */
    public DartSimulation receivers(int value) {
        receivers = range("receivers", value, 1, 1024);
        return this;
    }

    /** Messages of each compute process. */
    public DartSimulation messages(int value) {
        messages = range("messages", value, 1, MESSAGES_MAX);
        return this;
    }

    /** Bytes of a message. */
    public DartSimulation length(int value) {
        length = range("length", value, 0, 1 << 30);
        return this;
    }

    /** Messages at the beginning of each process of which the waiting does not count; 0. */
    public DartSimulation warmUp(int value) {
        warmUp = range("warm-up", value, 0, MESSAGES_MAX);
        return this;
    }

    /** Nanoseconds of computing before each message. */
    public DartSimulation computeNs(long value) {
        computeNs = value;
        return this;
    }

    /** Messages that a process may have in flight before a send waits. */
    public DartSimulation inFlight(int value) {
        inFlight = range("in-flight", value, 1, 64);
        return this;
    }

    /** Bytes per second of every server's and receiver's way out of the machine. */
    public DartSimulation streamRate(long value) {
        if (value < 1) {
            throw new IllegalArgumentException("stream rate " + value + " is below 1");
        }
        streamRate = value;
        return this;
    }

    /** Buffers of each server; default: 16, each for a message or 4 MiB of it. */
    public DartSimulation buffers(int count, int size) {
        bufferCount = range("buffers", count, 2, 1 << 16);
        bufferSize = range("buffer size", size, 4096, 1 << 30);
        return this;
    }

    /** Whether payloads are really moved and compared; otherwise they are sizes only. */
    public DartSimulation filled(boolean value) {
        isFilled = value;
        return this;
    }

    /** For what is random. */
    public DartSimulation seed(long value) {
        seed = value;
        return this;
    }

    /** The network; its topology, if none is set, is one switch for all. */
    public DartSimulation machine(Machine value) {
        machine = value;
        return this;
    }

    /** Sets the receiver of the per cent delivered; its answer false ends the run. */
    public DartSimulation progress(IntPredicate value) {
        progress = value;
        return this;
    }

    /** Measures what the run costs; a nanosecond clock. For {@link #wallTimes}. */
    public DartSimulation wallClock(LongSupplier value) {
        wallClock = value;
        return this;
    }

    /** What the run has cost; null before it has ended, nothing without a clock. */
    public DartWallTimes wallTimes() {
        return wallTimes;
    }

    private static int range(String what, int value, int least, int most) {
        if (value < least || value > most) {
            throw new IllegalArgumentException(
                    what + " " + value + " is outside " + least + " to " + most);
        }
        return value;
    }

    /** Sums over pieces, from the events of the servers. */
    private static final class Times implements StagingEvents {
        private long pullNs;
        private long queueNs;
        private long streamNs;
        private long pieces;
        private long pulls;

        @Override
        public void pulled(int client, long sequence, long bytes, long ns) {
            pullNs += ns;
            pulls++;
        }

        @Override
        public void streamed(int client, long sequence, long bytes, long queued, long streamed) {
            queueNs += queued;
            streamNs += streamed;
            pieces++;
        }
    }

    /**
     * Runs it.
     *
     * @throws IllegalStateException if it comes to no end, or a message is wrong; says which
     */
    public DartReport run() {
        receivers = receivers == 0 ? Math.max(1, servers / 4) : receivers;
        // A message with its metadata, if that is not too long.
        bufferSize = bufferSize == 0 ? Math.min(length, BUFFER_MAX) + REAL_BYTES : bufferSize;
        long beganNs = wallClock.getAsLong();
        int hosts = nodes + servers + receivers;
        NetworkContext network = machine.network().isLoopback(true);
        String shape = machine.hasTopology() ? "" : "switch(" + hosts + ")";
        try (World world =
                new World(
                        seed,
                        shape.isEmpty()
                                ? machine.topology()
                                : Topologies.parse(shape, network.tie()),
                        network)) {
            world.streams(streamLatencyNs, streamRate).streamWindow(STREAM_WINDOW);
            world.wallClock(wallClock);
            if (!isFilled) {
                world.sizeOnlyAbove(REAL_BYTES);
            }
            return run(world, new DartCluster(world), beganNs);
        }
    }

    private DartReport run(World world, DartCluster cluster, long beganNs) {
        final Times times = new Times();
        for (int i = 0; i < receivers; i++) {
            cluster.receive(i, new DeliveryCheck(length, isFilled, true), context -> {});
        }
        // One more than its share: at the end of the run the master is a server like the others.
        int share = Math.min(8192, (nodes + servers - 1) / servers + 8);
        for (int i = 0; i < servers; i++) {
            int clients = i == 0 ? Math.min(8192, nodes + 8) : share;
            cluster.serve(
                    i,
                    i % receivers,
                    times,
                    context ->
                            context.serverCount(servers)
                                    .clientsMax(clients)
                                    .creditsPerClient(2)
                                    .bufferSize(bufferSize)
                                    .bufferCount(bufferCount));
        }
        final long madeNs = wallClock.getAsLong();
        check(world.runUntil(cluster::isReady, BOOT_NS), "the servers are not ready", cluster);
        final long readyNs = wallClock.getAsLong();
        final long bootNs = world.nowNs() - World.BEGIN_NS;
        for (int i = 0; i < nodes; i++) {
            compute(cluster, i);
        }
        final long computesMadeNs = wallClock.getAsLong();
        boolean[] isEnded = new boolean[1];
        boolean isDone =
                world.runUntil(() -> isDone(world, cluster, isEnded) || isEnded[0], RUN_NS);
        check(isDone && !isEnded[0], "not all is delivered", cluster);
        final long doneNs = wallClock.getAsLong();
        cluster.stop();
        check(world.runUntil(cluster::isStopped, GOODBYE_NS), "the servers do not end", cluster);
        wallTimes =
                new DartWallTimes(
                        madeNs - beganNs + computesMadeNs - readyNs,
                        readyNs - madeNs,
                        doneNs - computesMadeNs,
                        wallClock.getAsLong() - doneNs,
                        world.stepNs(DartCluster.MASTER),
                        world.stepNs(DartCluster.SLAVE),
                        world.stepNs(DartCluster.RECEIVER),
                        world.stepNs(DartCluster.COMPUTE));
        return report(world, cluster, times, bootNs);
    }

    private void compute(DartCluster cluster, int rank) {
        // What a process remembers of its messages, it remembers a hundred thousand times.
        int unconfirmedMax = Math.min(1024, 2 * Integer.highestOneBit(messages + inFlight));
        cluster.compute(
                new ComputeProcess.Plan(
                        rank,
                        0,
                        messages,
                        length,
                        computeNs,
                        inFlight,
                        warmUp,
                        rank * START_EVERY_NS,
                        true),
                isFilled,
                context -> context.unconfirmedMax(unconfirmedMax).distributions(false));
    }

    private long lastStep;
    private int done;

    private boolean isDone(World world, DartCluster cluster, boolean[] isEnded) {
        if (world.stepCount() - lastStep >= PROGRESS_STEPS) {
            lastStep = world.stepCount();
            long all = (long) nodes * messages;
            isEnded[0] = !progress.test((int) (100 * cluster.deliveredCount() / all));
        }
        while (done < nodes && cluster.computes.get(done).isDone) {
            done++;
        }
        return done == nodes;
    }

    private void check(boolean isGood, String what, DartCluster cluster) {
        if (!isGood) {
            StringBuilder text = new StringBuilder(what);
            text.append("; ").append(cluster.deliveredCount()).append(" messages are");
            cluster.computes.stream()
                    .filter(c -> !c.failure.isEmpty() || !c.isDone)
                    .limit(3)
                    .forEach(c -> text.append("; ").append(c));
            cluster.servers.stream()
                    .filter(s -> !s.process().errors().isEmpty())
                    .limit(3)
                    .forEach(s -> text.append("; ").append(s.process().errors().get(0)));
            throw new IllegalStateException(text.toString());
        }
    }

    private DartReport report(World world, DartCluster cluster, Times times, long bootNs) {
        long bytes = 0;
        for (DartCluster.Receiver receiver : cluster.receivers) {
            bytes += receiver.delivered().bytes;
            if (!receiver.delivered().wrong.isEmpty()) {
                throw new IllegalStateException(receiver.delivered().wrong);
            }
        }
        long began = Long.MAX_VALUE;
        long connected = 0;
        long ended = 0;
        long blocked = 0;
        long slowest = 0;
        for (ComputeProcess compute : cluster.computes) {
            check(compute.failure.isEmpty(), "a process failed", cluster);
            began = Math.min(began, compute.beganNs);
            connected = Math.max(connected, compute.beganNs);
            ended = Math.max(ended, compute.endedNs);
            blocked += compute.blockedNs;
            slowest = Math.max(slowest, compute.blockedNs);
        }
        check(cluster.deliveredCount() == (long) nodes * messages, "messages are missing", cluster);
        double line = Math.max(1e-9, (ended - began) / 1e9) * streamRate;
        long cablePs = 0;
        for (DartCluster.Server server : cluster.servers) {
            cablePs += world.cableBusyPs(server.process().host(), true);
        }
        return new DartReport(
                nodes,
                servers,
                receivers,
                cluster.deliveredCount(),
                bytes,
                bootNs,
                connected - bootNs - World.BEGIN_NS,
                ended - began,
                computeNs * messages,
                blocked / nodes,
                slowest,
                times.pullNs / Math.max(1, times.pulls),
                times.queueNs / Math.max(1, times.pieces),
                times.streamNs / Math.max(1, times.pieces),
                cablePs / 1000.0 / servers / Math.max(1, ended - began),
                bytes / (line * servers),
                bytes / (line * receivers),
                world.stepCount(),
                world.eventCount(),
                world.traceHash());
    }
}
