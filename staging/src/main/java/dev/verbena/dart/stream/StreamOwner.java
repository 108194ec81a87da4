package dev.verbena.dart.stream;

import dev.verbena.agent.StagingEvents;
import dev.verbena.dart.config.ServerSettings;
import dev.verbena.dart.wire.ControlFlyweight;
import java.nio.charset.StandardCharsets;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import org.agrona.concurrent.OneToOneConcurrentArrayQueue;

/**
 * What the stream to the receiver shares with the server to which it belongs. Fields are t3's,
 * except where another writer is named; any agent of the server may read them.
 */
public abstract class StreamOwner {
    public static final int RECEIVER_UNKNOWN = 0;
    public static final int RECEIVER_CONNECTED = 1;
    public static final int RECEIVER_UNREACHABLE = 2;

    /** Losses that t1 has not heard of yet; t3 reads no more files beyond. */
    public static final int LOSSES_MAX = 64;

    private static final byte[] NO_TROUBLE = {};

    /** Begin and end of a text that is too long, chars: at most three bytes each. */
    private static final int TROUBLE_PART = 60;

    public final ServerSettings settings;
    public final StagingEvents events;
    public final AtomicLong streamedBytes = new AtomicLong();
    public final AtomicLong reconnects = new AtomicLong();

    /** Of the spill: on disk now, ever written, confirmed from there. */
    public final AtomicLong spillBytes = new AtomicLong();

    public final AtomicLong spillFiles = new AtomicLong();
    public final AtomicLong spillMessages = new AtomicLong();
    public final AtomicLong spilledBytes = new AtomicLong();
    public final AtomicLong replayedMessages = new AtomicLong();
    public final AtomicLong spillFailures = new AtomicLong();

    /** Last parts of messages that the receiver confirmed out of files: t3 to t1. */
    public final OneToOneConcurrentArrayQueue<ServerBuffer> replayed =
            new OneToOneConcurrentArrayQueue<>(1024);

    /**
     * Parts that cannot be read out of files any more, or that the receiver would not take, one of
     * each lost message: t3 to t1.
     */
    public final OneToOneConcurrentArrayQueue<ServerBuffer> losses =
            new OneToOneConcurrentArrayQueue<>(LOSSES_MAX);

    /** What an end before all was delivered has lost. Thread-safe. */
    public final LostMessages lost;

    private volatile int receiverState = RECEIVER_UNKNOWN;
    private volatile long messageLengthMax = Long.MAX_VALUE;

    /** Set before {@link #receiverState}. */
    private volatile byte[] trouble = NO_TROUBLE;

    protected StreamOwner(ServerSettings settings) {
        this.settings = settings;
        this.events = settings.environment().events();
        this.lost = new LostMessages(this::report);
        if (settings.isDiscarding()) {
            receiverState = RECEIVER_CONNECTED;
        }
    }

    /** Tells the listeners for failures. */
    public final void report(Throwable failure) {
        settings.environment().errorHandler().onError(failure);
    }

    /** Wakes t1 when it sleeps. */
    public abstract void wakeT1();

    /** Wakes t3 when it sleeps. */
    public abstract void wakeT3();

    /** Identity of this run of the server in the stream. */
    public abstract UUID run();

    /** -1: not known yet. */
    public abstract int serverId();

    /** Buffers that are free. */
    public abstract int emptyCount();

    /** Headers that wait for a buffer. */
    public abstract long parkedCount();

    /** One of the states above. */
    public final int receiverState() {
        return receiverState;
    }

    final void receiverState(int state) {
        receiverState = state;
    }

    /** Payload of the longest message that the receiver takes, as far as it is known. */
    public final long messageLengthMax() {
        return messageLengthMax;
    }

    final void messageLengthMax(long length) {
        messageLengthMax = length;
    }

    /** What holds the receiver up, for those who wait; {@code null}: nothing. */
    public final void trouble(String what) {
        if (what == null) {
            trouble = NO_TROUBLE;
            return;
        }
        byte[] text = what.getBytes(StandardCharsets.UTF_8);
        if (text.length > ControlFlyweight.TEXT_LENGTH_MAX) {
            // Who and what is at the begin, the cause at the end.
            String cut =
                    "%s...%s"
                            .formatted(
                                    what.substring(0, TROUBLE_PART),
                                    what.substring(what.length() - TROUBLE_PART));
            text = cut.getBytes(StandardCharsets.UTF_8);
        }
        trouble = text;
    }

    /**
     * Why the receiver takes nothing, in UTF-8, at most {@link ControlFlyweight#TEXT_LENGTH_MAX}
     * bytes. Empty: it does.
     */
    public final byte[] trouble() {
        return trouble;
    }
}
