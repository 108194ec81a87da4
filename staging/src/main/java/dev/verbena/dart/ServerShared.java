package dev.verbena.dart;

import dev.verbena.agent.StagingEvents;
import dev.verbena.dart.wire.ControlFlyweight;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.atomic.AtomicLong;
import org.agrona.concurrent.OneToOneConcurrentArrayQueue;

/**
 * What the three agents of a server share: the queues, each with one producer and one consumer,
 * flags with one writer each, and counts with one writer each.
 */
final class ServerShared {
    static final int RECEIVER_UNKNOWN = 0;
    static final int RECEIVER_CONNECTED = 1;
    static final int RECEIVER_UNREACHABLE = 2;

    private static final byte[] NO_TROUBLE = {};

    /** Begin and end of a text that is too long, chars: at most three bytes each. */
    private static final int TROUBLE_PART = 60;

    /** Losses that t1 has not heard of yet; t3 reads no more files beyond. */
    static final int LOSSES_MAX = 64;

    final ServerSettings settings;
    final StagingEvents events;

    /** ebq as far as it crosses threads: t3 to t1. */
    final OneToOneConcurrentArrayQueue<ServerBuffer> empty;

    /** pbq: t1 to t2. */
    final OneToOneConcurrentArrayQueue<ServerBuffer> pending;

    /** Ends of pulls: t1 to t2, behind pbq. */
    final OneToOneConcurrentArrayQueue<ServerBuffer> completed;

    /** fbq: t2 to t3. */
    final OneToOneConcurrentArrayQueue<ServerBuffer> full;

    final ServerTimes times;

    /** The way back. */
    final ReverseShared reverse;

    final AtomicLong headers = new AtomicLong();
    final AtomicLong duplicateHeaders = new AtomicLong();
    final AtomicLong malformed = new AtomicLong();
    final AtomicLong transferred = new AtomicLong();
    final AtomicLong failed = new AtomicLong();
    final AtomicLong streamed = new AtomicLong();
    final AtomicLong pulledBytes = new AtomicLong();
    final AtomicLong streamedBytes = new AtomicLong();
    final AtomicLong reconnects = new AtomicLong();
    final AtomicLong lostClients = new AtomicLong();
    final AtomicLong parkedHeaders = new AtomicLong();
    final AtomicLong clients = new AtomicLong();
    final AtomicLong emptyBuffers = new AtomicLong();
    final AtomicLong pendingBuffers = new AtomicLong();
    final AtomicLong streamingBuffers = new AtomicLong();

    /** Of the spill: on disk now, ever written, confirmed from there; written by t3. */
    final AtomicLong spillBytes = new AtomicLong();

    final AtomicLong spillFiles = new AtomicLong();
    final AtomicLong spillMessages = new AtomicLong();
    final AtomicLong spilledBytes = new AtomicLong();
    final AtomicLong replayedMessages = new AtomicLong();
    final AtomicLong spillFailures = new AtomicLong();

    /** Last parts of messages that the receiver confirmed out of files: t3 to t1. */
    final OneToOneConcurrentArrayQueue<ServerBuffer> replayed;

    /**
     * Parts that cannot be read out of files any more, or that the receiver would not take, one of
     * each lost message: t3 to t1.
     */
    final OneToOneConcurrentArrayQueue<ServerBuffer> losses;

    /** Messages that end half-way while no buffer is free that could say so: t1 to t3. */
    final OneToOneConcurrentArrayQueue<GivenUp> givenUp =
            new OneToOneConcurrentArrayQueue<>(LOSSES_MAX);

    /** Wake t1, t2, t3 when they sleep; set before the agents start. */
    volatile Runnable wakeT1 = () -> {};

    volatile Runnable wakeT2 = () -> {};
    volatile Runnable wakeT3 = () -> {};

    /** Set by t3. */
    volatile int receiverState = RECEIVER_UNKNOWN;

    /** Set by t3: payload of the longest message that the receiver takes, as far as it is known. */
    volatile long messageLengthMax = Long.MAX_VALUE;

    /**
     * Set by t3 before {@link #receiverState}: why the receiver takes nothing, in UTF-8, at most
     * {@link ControlFlyweight#TEXT_LENGTH_MAX} bytes. Empty: it does.
     */
    private volatile byte[] trouble = NO_TROUBLE;

    /** Set by anybody: stop in order. */
    volatile boolean isStopRequested;

    /** Set by anybody: end now, whatever is lost by that. */
    volatile boolean isStopNow;

    /** What an end before all was delivered has lost. */
    final LostMessages lost = new LostMessages();

    private final double[] timingSums = new double[DartTimings.LENGTH];
    private final long[] timingCounts = new long[DartTimings.LENGTH];
    private long timingReports;

    /** Set by t1: no buffer is in use and none will be. */
    volatile boolean isDrained;

    /** Set by t3: the receiver has everything and knows that it was all. */
    volatile boolean isFinished;

    /** Set by t1 before t3 needs them: identity in the stream. */
    volatile java.util.UUID job;

    volatile int serverId = -1;

    /** Set by t1: when the master started, ms; 0 if that is not known. */
    volatile long epochMs;

    /**
     * Identity of this run in the stream: a master that is started anew under the same job gives
     * the same ids to other processes, and the receiver must not mix them up.
     */
    java.util.UUID run() {
        return new java.util.UUID(
                job.getMostSignificantBits(), job.getLeastSignificantBits() ^ epochMs);
    }

    ServerShared(ServerSettings settings) {
        this.settings = settings;
        this.events = settings.environment().events();
        this.times = new ServerTimes(settings.clientsMax());
        int capacity = Math.max(2, settings.bufferCount());
        reverse = new ReverseShared(settings.clientsMax());
        empty = new OneToOneConcurrentArrayQueue<>(capacity);
        pending = new OneToOneConcurrentArrayQueue<>(capacity);
        completed = new OneToOneConcurrentArrayQueue<>(capacity);
        full = new OneToOneConcurrentArrayQueue<>(capacity);
        replayed = new OneToOneConcurrentArrayQueue<>(1024);
        losses = new OneToOneConcurrentArrayQueue<>(LOSSES_MAX);
        if (settings.isDiscarding()) {
            receiverState = RECEIVER_CONNECTED;
        }
    }

    /** What holds the receiver up, for those who wait; {@code null}: nothing. */
    void trouble(String what) {
        if (what == null) {
            trouble = NO_TROUBLE;
            return;
        }
        byte[] text = what.getBytes(StandardCharsets.UTF_8);
        if (text.length > ControlFlyweight.TEXT_LENGTH_MAX) {
            // Who and what stands at the begin, the cause at the end.
            String cut =
                    what.substring(0, TROUBLE_PART)
                            + "..."
                            + what.substring(what.length() - TROUBLE_PART);
            text = cut.getBytes(StandardCharsets.UTF_8);
        }
        trouble = text;
    }

    byte[] trouble() {
        return trouble;
    }

    /** One writer per counter: no read-modify-write needed. */
    static void add(AtomicLong counter, long delta) {
        counter.lazySet(counter.get() + delta);
    }

    int emptyCount() {
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
