package dev.verbena.dart.receiver;

import dev.verbena.agent.Environment;
import dev.verbena.dart.DartException;
import dev.verbena.dart.DartException.Code;
import dev.verbena.dart.config.ReceiverSettings;
import dev.verbena.dart.step.StepAssembler;
import dev.verbena.dart.store.InboundMessage;
import dev.verbena.dart.store.InboundStream;
import dev.verbena.dart.store.MessageFiles;
import dev.verbena.dart.store.ReceiverJournal;
import dev.verbena.dart.wire.FrameFlyweight;
import dev.verbena.staging.Counters;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.agrona.concurrent.NanoClock;

/**
 * What the parts of a receiver share: its configuration, its streams, messages that can be used
 * again, and what it counts. Owned by the receiver's agent; anybody may read the counts.
 */
final class ReceiverShared {
    private static final int POOL_MAX = 16;
    private static final int POOLED_MEMORY_MAX = 64 * 1024 * 1024;

    final ReceiverSettings settings;
    final Environment environment;
    final NanoClock clock;
    final List<InboundStream> streams = new ArrayList<>();

    /** Null: nothing is stored. */
    final MessageFiles files;

    /** Null: no steps are put together. */
    final StepAssembler steps;

    /** Somebody needs messages in memory. */
    final boolean isAssembling;

    /** Null: nothing is stored. Set before the first connection. */
    ReceiverJournal journal;

    /** Streams of which a frame waits for a message that was put aside, in order. */
    final ArrayDeque<InboundStream> wanted = new ArrayDeque<>();

    long framesTaken;

    /** Bytes of half messages in memory, when they were last counted. */
    long halfBytes;

    /** Memory of messages that were being stored at the latest look. */
    private long storingBytes;

    /** Bytes of messages in memory beyond what may be, as long as that gets less; 0: none. */
    long crowd;

    /** There is no use in waiting until there is less in memory. */
    private boolean isCrowdStaying = true;

    /** Payload that was taken. */
    long bytesTaken;

    /** The stream with most memory of half messages, at a receiver without a directory. */
    InboundStream largest;

    /** A frame waits for memory, at a receiver without a directory. */
    boolean isMemoryShort;

    private final ArrayDeque<InboundMessage> pool = new ArrayDeque<>();

    /** Memory of what is in the pool, and of what was there and has not begun. */
    private long pooledBytes;

    final AtomicLong messages = new AtomicLong();
    final AtomicLong payloadBytes = new AtomicLong();
    final AtomicLong corrupt = new AtomicLong();
    final AtomicLong abandoned = new AtomicLong();
    final AtomicLong duplicateFrames = new AtomicLong();
    final AtomicLong corruptFrames = new AtomicLong();
    final AtomicLong protocolErrors = new AtomicLong();
    final AtomicLong handlerErrors = new AtomicLong();
    final AtomicLong finished = new AtomicLong();

    ReceiverShared(ReceiverSettings settings, MessageFiles files, StepAssembler steps) {
        this.settings = settings;
        this.environment = settings.environment();
        this.clock = environment.nanoClock();
        this.files = files;
        this.steps = steps;
        this.isAssembling =
                (settings.handler() != null || steps != null) && environment.carriesPayloads();
    }

    /** Messages are remembered there from now on. */
    void rememberIn(ReceiverJournal its) {
        journal = its;
    }

    /** A frame with so much payload was taken; how many there were. */
    long tookFrame(int length) {
        bytesTaken += length;
        return ++framesTaken;
    }

    // ---- memory, of which PartialMessages keeps the bounds

    /** Somebody looks from now on what can be written to files, so that there is less in memory. */
    void looksBegin() {
        isCrowdStaying = files == null;
    }

    /**
     * A look at a receiver with files is over.
     *
     * @param held bytes of half messages
     * @param storing bytes of messages that are being stored
     * @param isLess whether it gets less; where it does not, waiting would be for ever
     */
    void looked(long held, long storing, boolean isLess) {
        halfBytes = held;
        storingBytes = storing;
        isCrowdStaying = !isLess;
        crowd = isLess ? Math.max(0, held + storing - 2 * settings.unfinishedBytesMax()) : 0;
    }

    /** A look at a receiver without files is over: so much there is, most of it of this stream. */
    void looked(long held, InboundStream most) {
        halfBytes = held;
        largest = most;
    }

    /** Whether a frame waits for memory; if it goes on waiting it says so again. */
    boolean takeMemoryShort() {
        boolean isShort = isMemoryShort;
        isMemoryShort = false;
        return isShort;
    }

    /** Memory is taken for what the file has of a message. */
    void readAgain(InboundMessage message) {
        halfBytes += message.received();
        message.counted(message.received());
    }

    /** Memory for a message that may begin; goes back by {@link #toPool}. */
    InboundMessage spare() {
        InboundMessage message = pool.poll();
        message = message == null ? new InboundMessage() : message;
        message.spare();
        return message;
    }

    /** Messages are used again once no frame depends on them. */
    void recycle(InboundStream stream) {
        for (int i = stream.delivered().size() - 1; i >= 0; i--) {
            InboundMessage message = stream.delivered().get(i);
            boolean isHeld = message.state() == InboundMessage.HELD;
            if (!isHeld && !stream.frames().dependsOn(message)) {
                stream.delivered().remove(i);
                toPool(message);
            }
        }
    }

    /** Used again as soon as no step needs its memory. */
    void toPool(InboundMessage message) {
        message.leaveStream();
        outOfPool(message);
        int length = message.memoryLength();
        if (!message.isHeld()
                && pool.size() < POOL_MAX
                && length <= POOLED_MEMORY_MAX
                && pooledBytes + length <= settings.unfinishedBytesMax() / 2) {
            message.pooled(length);
            pooledBytes += length;
            // The memory that was used last is the most likely to be in a cache.
            pool.push(message);
        }
    }

    /** Nobody but its stream needs this message any more. */
    void letGo(InboundMessage message) {
        message.held(false);
        message.settle();
        if (message.isForgotten()) {
            toPool(message);
        }
    }

    /** It begins, or nobody will use its memory again. */
    void outOfPool(InboundMessage message) {
        pooledBytes -= message.pooledBytes();
        message.pooled(0);
    }

    /**
     * Whether the next part of a message that has no file finds memory now; a message that is alone
     * always does. From half of the bound on only the stream with most of it goes on, so that one
     * comes to the end of its messages.
     *
     * @param message null: it is new
     * @param needed bytes of memory, metadata block included
     */
    boolean hasMemoryFor(InboundStream stream, InboundMessage message, int needed) {
        if (files != null) {
            return true;
        }
        long others = halfBytes - (message == null ? 0 : message.countedBytes());
        long grown = message == null ? needed : message.grown(needed);
        long max = settings.unfinishedBytesMax() * (stream == largest ? 2 : 1);
        boolean isRoom = others <= 0 || others + grown <= max;
        isMemoryShort |= !isRoom;
        return isRoom;
    }

    /** A half message takes more memory than it did. */
    void grew(InboundMessage message) {
        halfBytes += message.memoryLength() - message.countedBytes();
        message.counted(message.memoryLength());
        if (!isCrowdStaying) {
            long held = halfBytes + storingBytes;
            crowd = Math.max(crowd, held - 2 * settings.unfinishedBytesMax());
        }
    }

    /** It is complete: of those without a file no other waits for its memory any more. */
    void isHalfNoMore(InboundMessage message) {
        if (files == null) {
            halfBytes -= message.countedBytes();
            message.counted(0);
        }
    }

    /** It cannot be delivered any more, which its step and the listeners for failures learn. */
    void abandon(InboundMessage message, String what, Object... values) {
        if (steps != null) {
            steps.gaveUp(message);
        }
        report(Code.TRANSFER_FAILED.because(what, values));
        Counters.add(abandoned, 1);
    }

    /** Its server will not send the rest. */
    void giveUp(InboundStream stream, InboundMessage message) {
        forget(stream, message);
        abandon(
                message,
                "%s was given up by its server after %s of %s bytes",
                message,
                message.received(),
                message.metadata().payloadLength());
    }

    /** The acknowledged beginning of a message is gone: it cannot be delivered any more. */
    void loseHalf(InboundStream stream, InboundMessage message, String why) {
        forget(stream, message);
        stream.loseHalf();
        abandon(
                message,
                "%s, of which %s of %s bytes had come, is lost: %s",
                message,
                message.received(),
                message.metadata().payloadLength(),
                why);
    }

    /** Nothing more will come of what is half received from this server. */
    void abandonOpen(InboundStream stream) {
        for (InboundMessage message : new ArrayList<>(stream.open().values())) {
            giveUp(stream, message);
        }
    }

    /** Its server begins anew: what is whole and not stored was confirmed to nobody. */
    void abandonStoring(InboundStream stream) {
        if (stream.storing().isEmpty()) {
            return;
        }
        for (InboundMessage message : new ArrayList<>(stream.storing())) {
            stream.stored(message);
            forget(stream, message);
            abandon(message, "%s is lost: its server began anew before it was stored", message);
        }
        if (journal != null) {
            // It may promise some of them.
            journal.rewriteSoon(clock.nanoTime());
        }
    }

    /** Nothing more will come of this message here. */
    void forget(InboundStream stream, InboundMessage message) {
        stream.open().remove(message.clientId());
        stream.frames().forget(message);
        if (journal != null) {
            journal.forget(stream, message);
        }
        if (message.file() != null) {
            files.discard(message);
        }
        toPool(message);
    }

    /** It is not needed here, or takes its room again when it comes again. */
    void leaveStep(InboundMessage message) {
        if (steps != null) {
            steps.droppedDuplicate(message);
        }
    }

    void report(Throwable e) {
        environment.errorHandler().onError(e);
    }

    static DartException malformed(FrameFlyweight frame, String what) {
        return Code.MALFORMED.because(
                "frame %s, message %s of client %s: %s",
                frame.sequence(), frame.messageSequence(), frame.clientId(), what);
    }
}
