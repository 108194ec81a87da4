package dev.verbena.dart;

import dev.verbena.agent.Environment;
import dev.verbena.agent.internal.PlantedFaults;
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

    final DartReceiver.Context context;
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

    /** Bytes of messages in memory beyond what may be, as long as that gets less; 0: none. */
    long crowd;

    /** There is no use in waiting until there is less in memory. */
    boolean isCrowdStaying = true;

    private final ArrayDeque<InboundMessage> pool = new ArrayDeque<>();

    final AtomicLong messages = new AtomicLong();
    final AtomicLong payloadBytes = new AtomicLong();
    final AtomicLong corrupt = new AtomicLong();
    final AtomicLong abandoned = new AtomicLong();
    final AtomicLong duplicateFrames = new AtomicLong();
    final AtomicLong corruptFrames = new AtomicLong();
    final AtomicLong protocolErrors = new AtomicLong();
    final AtomicLong handlerErrors = new AtomicLong();
    final AtomicLong finished = new AtomicLong();

    ReceiverShared(DartReceiver.Context context, MessageFiles files, StepAssembler steps) {
        this.context = context;
        this.environment = context.environment;
        this.clock = environment.nanoClock();
        this.files = files;
        this.steps = steps;
        this.isAssembling =
                (context.handler != null || steps != null) && environment.carriesPayloads();
    }

    /** Memory for a message that may begin; goes back by {@link #toPool}. */
    InboundMessage spare() {
        InboundMessage message = pool.poll();
        message = message == null ? new InboundMessage() : message;
        message.isSpare = true;
        return message;
    }

    /** Messages are used again once no frame depends on them. */
    void recycle(InboundStream stream) {
        for (int i = stream.delivered.size() - 1; i >= 0; i--) {
            InboundMessage message = stream.delivered.get(i);
            boolean isForgetful =
                    PlantedFaults.ENABLED && PlantedFaults.isOn("dart-held-message-forgotten");
            boolean isHeld = message.state == InboundMessage.HELD && !isForgetful;
            if (!isHeld && !stream.dependsOn(message)) {
                stream.delivered.remove(i);
                toPool(message);
            }
        }
    }

    /** Used again as soon as no step needs its memory. */
    void toPool(InboundMessage message) {
        message.isForgotten = true;
        if (!message.isHeld
                && pool.size() < POOL_MAX
                && message.memoryLength() <= POOLED_MEMORY_MAX) {
            // The memory that was used last is the most likely to be in a cache.
            pool.push(message);
        }
    }

    /** A half message takes more memory than it did. */
    void grew(InboundMessage message) {
        halfBytes += message.memoryLength() - message.countedBytes;
        message.countedBytes = message.memoryLength();
        if (!isCrowdStaying) {
            crowd = Math.max(crowd, halfBytes - 2 * context.unfinishedBytesMax);
        }
    }

    void report(Throwable e) {
        environment.errorHandler().onError(e);
    }

    static DartException malformed(FrameFlyweight frame, String what) {
        return new DartException(
                DartException.Code.MALFORMED,
                "frame "
                        + frame.sequence()
                        + ", message "
                        + frame.messageSequence()
                        + " of client "
                        + frame.clientId()
                        + ": "
                        + what);
    }
}
