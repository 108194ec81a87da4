package dev.verbena.dart.stream;

import dev.verbena.agent.ByteStreams.ByteStream;
import dev.verbena.dart.AckMode;
import dev.verbena.dart.DartException.Code;
import dev.verbena.dart.config.ServerSettings;
import dev.verbena.dart.wire.ControlFlyweight;
import dev.verbena.dart.wire.FrameFlyweight;
import dev.verbena.dart.wire.MetadataFlyweight;
import dev.verbena.staging.Counters;
import java.nio.ByteBuffer;
import java.util.function.Consumer;
import org.agrona.DirectBuffer;
import org.agrona.collections.Long2LongHashMap;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * The frame that a server is writing to its receiver, header and payload: out of a buffer, or out
 * of a file. What was acknowledged or asked for again meanwhile waits for its end. Owned by t3.
 */
final class LinkOutlet {
    /** A frame whose reading fails so often, with pauses, is lost: within some seconds. */
    private static final int READ_TRIES = 20;

    private static final long READ_PAUSE_NS = 250_000_000L;

    private final StreamOwner shared;
    private final ServerSettings settings;
    private final HeldBuffers held;
    private final Consumer<ServerBuffer> giveBack;

    /** Where parts are that are not in memory; null: nowhere. */
    private final SpillFiles files;

    private final FrameFlyweight outFrame = new FrameFlyweight();
    private final UnsafeBuffer out = new UnsafeBuffer(new byte[FrameFlyweight.LENGTH + 1024]);

    /** Whose frame it is; null: no data. */
    private ServerBuffer current;

    private int outLength;
    private int outDone;

    /** By client, the message of which a file has lost a part: the rest of it is left out. */
    private final Long2LongHashMap unreadable = new Long2LongHashMap(0);

    /** A frame out of a file; made when the first one is sent. */
    private UnsafeBuffer scratch;

    private DirectBuffer payload;
    private int payloadOffset;
    private int payloadLength;
    private int payloadDone;

    /** Payload of the longest message that this receiver takes. */
    private long messageLengthMax = Long.MAX_VALUE;

    // How often reading the next frame has failed, and when it is tried again.
    private int readTries;
    private long readAgainNs;

    // Acknowledged while a frame of the buffer was still being written again.
    private long deferredAck;

    // Asked for again while a frame was being written; 0: nothing.
    private long deferredRewind;

    LinkOutlet(
            StreamOwner shared,
            HeldBuffers held,
            SpillFiles files,
            Consumer<ServerBuffer> giveBack) {
        this.shared = shared;
        this.settings = shared.settings;
        this.held = held;
        this.files = files;
        this.giveBack = giveBack;
    }

    /** A connection is new: nothing is half written. */
    void reset() {
        current = null;
        outLength = 0;
        deferredAck = 0;
        deferredRewind = 0;
    }

    /** A receiver has said what it takes. */
    void messageLengthMax(long length) {
        messageLengthMax = length;
    }

    /** Whether there is no frame to be written. */
    boolean isIdle() {
        return outLength == 0;
    }

    /** Whether all of the frame is written, and {@link #frameWritten} is due. */
    boolean isWritten() {
        return outDone == outLength && payloadDone == payloadLength;
    }

    /** Whether a frame of this buffer is half written. */
    boolean isSending(ServerBuffer buffer) {
        return current == buffer;
    }

    /** Where the payload of a control frame goes, from {@link FrameFlyweight#LENGTH} on. */
    UnsafeBuffer room() {
        return out;
    }

    /** Begins a frame whose payload is in {@link #room}. */
    void control(int type, int length) {
        outFrame.begin(out, 0, type).end(out, FrameFlyweight.LENGTH, length);
        outLength = FrameFlyweight.LENGTH + length;
        outDone = 0;
        payloadLength = 0;
        payloadDone = 0;
    }

    /**
     * Begins the next frame of the buffers that are held.
     *
     * @param nowNs when
     * @return false if it cannot be read now
     */
    boolean data(long nowNs) {
        if (readTries > 0 && nowNs - readAgainNs < 0) {
            return false;
        }
        current = held.next();
        int frame = held.nextFrame();
        payloadOffset = frame * settings.framePayloadMax();
        payloadLength = held.frameLength(current, frame);
        payloadDone = 0;
        boolean isFirst = frame == 0;
        if (isFirst && current.firstFrame > held.sentUpTo()) {
            current.streamBegan(nowNs);
        }
        payload = current.window;
        if (isFirst && !current.isStandIn()) {
            loseIfTooLong(current, current.window, 0);
        }
        if (isGivenUp(current)) {
            giveUp(frame);
        } else if (current.notice != null) {
            payload = current.notice;
            DataFrames.encode(outFrame, out, current, frame, payloadOffset, payloadLength);
        } else if (current.isStandIn()) {
            if (!isFetched(frame, nowNs)) {
                current = null;
                return false;
            }
        } else {
            DataFrames.encode(outFrame, out, current, frame, payloadOffset, payloadLength);
        }
        held.begun();
        outLength = FrameFlyweight.LENGTH;
        outDone = 0;
        return true;
    }

    /** When reading a file is tried again. */
    long nextDeadlineNs() {
        return readTries > 0 ? readAgainNs : Long.MAX_VALUE;
    }

    /** Whether a pull or a file has lost some of the message of this part. */
    private boolean isGivenUp(ServerBuffer part) {
        part.dropped(
                part.isDropped
                        || !unreadable.isEmpty()
                                && !part.isNotice()
                                && unreadable.get(part.clientId) == part.sequence);
        if (part.isLost) {
            // Seen again after an earlier message was lost, too: the rest of this one is left out.
            unreadable.put(part.clientId, part.sequence);
        }
        return part.isDropped;
    }

    private void giveUp(int frame) {
        payloadLength = 0;
        DataFrames.encodeGivenUp(outFrame, out, current, frame);
    }

    /**
     * This part cannot be streamed: its message is lost, for good, and its process must know before
     * it hears that later ones have arrived.
     */
    private void lose(ServerBuffer part, int result) {
        part.dropped(true);
        if (!part.isNotice()) {
            part.lost(result);
            unreadable.put(part.clientId, part.sequence);
            if (part.slot >= 0) {
                // Not the buffer itself, which goes its own way.
                shared.losses.offer(part.isStandIn() ? part : part.standIn());
                shared.wakeT1();
            }
        }
    }

    /**
     * A message that this receiver would refuse, again and again, must not hold up those behind it.
     *
     * @param bytes has the beginning of the part
     */
    private void loseIfTooLong(ServerBuffer part, DirectBuffer bytes, int offset) {
        boolean isBegin = part.isFirst() && !part.isNotice() && !part.isDropped;
        if (!isBegin || messageLengthMax == Long.MAX_VALUE) {
            return;
        }
        long length = MetadataFlyweight.payloadLength(bytes, offset);
        if (length > messageLengthMax) {
            lose(part, ControlFlyweight.RESULT_TOO_LONG);
            shared.report(
                    Code.TOO_LONG.because(
                            "%s is not delivered: it has %s bytes, and messageLengthMax of the "
                                    + "receiver is %s",
                            part, length, messageLengthMax));
        }
    }

    /** Another receiver than the present one had the beginning of this message. */
    void loseRest(int clientId, long sequence) {
        ServerBuffer part = held.find(clientId, sequence);
        if (part == null || part.isLost) {
            return;
        }
        lose(part, ControlFlyweight.RESULT_BEGINNING_LOST);
        shared.report(
                Code.TRANSFER_FAILED.because(
                        "%s is lost: the receiver has not got its beginning, which an "
                                + "earlier one had acknowledged",
                        part));
    }

    /** Whether a loss could be told of now. */
    boolean hasRoomForLoss() {
        return shared.losses.remainingCapacity() > 0;
    }

    /**
     * Takes a frame out of its file; one that nobody can read ends its message. False: later, for
     * what fails now need not fail for ever.
     */
    private boolean isFetched(int frame, long nowNs) {
        payloadOffset = FrameFlyweight.LENGTH;
        if (scratch == null) {
            scratch =
                    new UnsafeBuffer(
                            ByteBuffer.allocateDirect(
                                    FrameFlyweight.LENGTH + FrameFlyweight.PAYLOAD_MAX));
        }
        boolean isPatient = readTries < READ_TRIES;
        int answer = files.read(current, frame, payloadLength, scratch, isPatient);
        if (answer == SpillFiles.LATER) {
            readTries++;
            readAgainNs = nowNs + READ_PAUSE_NS;
            return false;
        }
        readTries = 0;
        if (answer < 0) {
            lose(current, ControlFlyweight.RESULT_TRANSFER_FAILED);
        } else if (frame == 0) {
            loseIfTooLong(current, scratch, FrameFlyweight.LENGTH);
        }
        if (answer < 0 || current.isDropped) {
            giveUp(frame);
        } else {
            payload = scratch;
            out.putBytes(0, scratch, 0, FrameFlyweight.LENGTH);
        }
        return true;
    }

    /** Header and payload in one piece, or what is left of them; as the stream answers. */
    int writeSome(ByteStream stream) {
        int headLeft = outLength - outDone;
        int payloadLeft = payloadLength - payloadDone;
        if (payloadLeft == 0) {
            int n = stream.write(out, outDone, headLeft);
            outDone += Math.max(n, 0);
            return n;
        }
        int at = payloadOffset + payloadDone;
        int n =
                headLeft == 0
                        ? stream.write(payload, at, payloadLeft)
                        : stream.write(out, outDone, headLeft, payload, at, payloadLeft);
        int head = Math.min(Math.max(n, 0), headLeft);
        outDone += head;
        payloadDone += Math.max(n, 0) - head;
        return n;
    }

    /** The next frame may begin. */
    void frameWritten() {
        outLength = 0;
        if (current != null) {
            Counters.add(shared.streamedBytes, payloadLength);
            current = null;
            held.written();
            if (settings.ack() == AckMode.NONE) {
                held.acknowledge(held.sentUpTo() + 1, giveBack);
            } else if (deferredAck > 0) {
                long ack = deferredAck;
                deferredAck = 0;
                held.acknowledge(ack, giveBack);
            }
            if (deferredRewind > 0) {
                long again = deferredRewind;
                deferredRewind = 0;
                held.rewind(again);
            }
        }
    }

    /** The receiver has everything before this number. */
    void acknowledged(long next) {
        if (current != null && next > current.firstFrame) {
            held.acknowledge(Math.min(next, current.firstFrame), giveBack);
            deferredAck = Math.max(deferredAck, next);
            held.checkAcknowledgement(next);
        } else {
            held.acknowledge(next, giveBack);
        }
    }

    /** The receiver wants everything from this number on again. */
    void rewind(long next) {
        if (current == null) {
            held.rewind(next);
        } else {
            deferredRewind = Math.max(1, next);
        }
    }
}
