package dev.verbena.dart.server;

import dev.verbena.dart.DartTimings;
import dev.verbena.dart.ServerStatistics;
import dev.verbena.dart.ServerTimes;
import dev.verbena.dart.SpillStatistics;
import dev.verbena.dart.config.ServerSettings;
import dev.verbena.dart.stream.ServerBuffer;
import dev.verbena.dart.stream.StreamOwner;
import dev.verbena.staging.transfer.PartBuffers;
import dev.verbena.staging.transfer.SharedMemory;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import org.agrona.concurrent.OneToOneConcurrentArrayQueue;

/**
 * What the three agents of a server share: the queues, each with one producer and one consumer,
 * flags with one writer each, and counts with one writer each.
 */
public final class ServerShared extends StreamOwner {
    /** ebq as far as it crosses threads: t3 to t1. */
    final OneToOneConcurrentArrayQueue<ServerBuffer> empty;

    /** pbq: t1 to t2. */
    final OneToOneConcurrentArrayQueue<ServerBuffer> pending;

    /** Ends of pulls: t1 to t2, behind pbq. */
    final OneToOneConcurrentArrayQueue<ServerBuffer> completed;

    /** fbq: t2 to t3. */
    final OneToOneConcurrentArrayQueue<ServerBuffer> full;

    final ServerTimes times;

    /** Memory of all buffers, used by t1 and t3; null: t1's transport allocates it. */
    final SharedMemory bufferMemory;

    /** The way back. */
    final ReverseShared reverse;

    final AtomicLong headers = new AtomicLong();
    final AtomicLong duplicateHeaders = new AtomicLong();
    final AtomicLong malformed = new AtomicLong();
    final AtomicLong transferred = new AtomicLong();
    final AtomicLong failed = new AtomicLong();
    final AtomicLong streamed = new AtomicLong();
    final AtomicLong pulledBytes = new AtomicLong();
    final AtomicLong lostClients = new AtomicLong();
    final AtomicLong parkedHeaders = new AtomicLong();
    final AtomicLong clients = new AtomicLong();
    final AtomicLong emptyBuffers = new AtomicLong();
    final AtomicLong pendingBuffers = new AtomicLong();
    final AtomicLong streamingBuffers = new AtomicLong();

    /** Messages that end half-way while no buffer is free that could say so: t1 to t3. */
    final OneToOneConcurrentArrayQueue<GivenUp> givenUp =
            new OneToOneConcurrentArrayQueue<>(LOSSES_MAX);

    private volatile Runnable wakeT1 = () -> {};
    private volatile Runnable wakeT2 = () -> {};
    private volatile Runnable wakeT3 = () -> {};

    /** Set by anybody: stop in order. */
    volatile boolean isStopRequested;

    /** Set by anybody: end now, whatever is lost by that. */
    volatile boolean isStopNow;

    private final double[] timingSums = new double[DartTimings.LENGTH];
    private final long[] timingCounts = new long[DartTimings.LENGTH];
    private long timingReports;

    /** Set by t1: no buffer is in use and none will be. */
    volatile boolean isDrained;

    /** Set by t3: the receiver has everything and knows that it was all. */
    volatile boolean isFinished;

    /** Set by t1 before t3 needs them: identity in the stream. */
    volatile UUID job;

    volatile int serverId = -1;

    /** Set by t1: when the master started, ms; 0 if that is not known. */
    volatile long epochMs;

    /**
     * Identity of this run in the stream: a master that is started anew under the same job gives
     * the same ids to other processes, and the receiver must not mix them up.
     */
    @Override
    public UUID run() {
        return new UUID(job.getMostSignificantBits(), job.getLeastSignificantBits() ^ epochMs);
    }

    public ServerShared(ServerSettings settings) {
        super(settings);
        this.times = new ServerTimes(settings.clientsMax());
        int capacity = Math.max(2, settings.bufferCount());
        reverse = new ReverseShared(settings.clientsMax());
        bufferMemory =
                settings.receiverAddress() == null
                        ? null
                        : new SharedMemory(
                                PartBuffers.length(settings.bufferCount(), settings.bufferSize()));
        empty = new OneToOneConcurrentArrayQueue<>(capacity);
        pending = new OneToOneConcurrentArrayQueue<>(capacity);
        completed = new OneToOneConcurrentArrayQueue<>(capacity);
        full = new OneToOneConcurrentArrayQueue<>(capacity);
    }

    /** By t1 before t3 needs it: whose stream this is. */
    public void identify(UUID itsJob, long itsEpochMs, int itsServerId) {
        job = itsJob;
        epochMs = itsEpochMs;
        serverId = itsServerId;
    }

    /** What wakes t1 when it sleeps, and so on; before the agents start. */
    void onWakeT1(Runnable wakeup) {
        wakeT1 = wakeup;
    }

    void onWakeT2(Runnable wakeup) {
        wakeT2 = wakeup;
    }

    void onWakeT3(Runnable wakeup) {
        wakeT3 = wakeup;
    }

    @Override
    public void wakeT1() {
        wakeT1.run();
    }

    void wakeT2() {
        wakeT2.run();
    }

    @Override
    public void wakeT3() {
        wakeT3.run();
    }

    /**
     * By anybody: stop.
     *
     * @param isAtOnce now, whatever is lost by that; else in order
     */
    void requestStop(boolean isAtOnce) {
        if (isAtOnce) {
            isStopNow = true;
        }
        isStopRequested = true;
    }

    /** By t1: no buffer is in use and none will be. */
    void drained() {
        isDrained = true;
        wakeT3.run();
    }

    /** By t3: the receiver has everything. */
    void finished() {
        isFinished = true;
        wakeT1.run();
    }

    @Override
    public int serverId() {
        return serverId;
    }

    @Override
    public long parkedCount() {
        return parkedHeaders.get();
    }

    @Override
    public int emptyCount() {
        return (int) emptyBuffers.get() + empty.size();
    }

    int pendingCount() {
        return (int) pendingBuffers.get() + pending.size();
    }

    int fullCount() {
        return full.size();
    }

    /** A process has reported how long things took it. */
    synchronized void addTimings(double[] values) {
        timingReports++;
        for (int i = 0; i < values.length; i++) {
            timingSums[i] += values[i];
            timingCounts[i]++;
        }
    }

    synchronized DartTimings timings() {
        double[] means = new double[DartTimings.LENGTH];
        for (int i = 0; i < means.length; i++) {
            means[i] = timingCounts[i] == 0 ? 0 : timingSums[i] / timingCounts[i];
        }
        return new DartTimings(timingReports, means);
    }

    SpillStatistics spillStatistics() {
        return new SpillStatistics(
                spillBytes.get(),
                (int) spillFiles.get(),
                spillMessages.get(),
                spilledBytes.get(),
                replayedMessages.get(),
                spillFailures.get());
    }

    ServerStatistics statistics() {
        return new ServerStatistics(
                headers.get(),
                duplicateHeaders.get(),
                malformed.get(),
                transferred.get(),
                failed.get(),
                streamed.get() + replayedMessages.get(),
                pulledBytes.get(),
                streamedBytes.get(),
                reconnects.get(),
                (int) parkedHeaders.get(),
                lostClients.get(),
                emptyCount(),
                pendingCount(),
                fullCount(),
                (int) streamingBuffers.get());
    }
}
