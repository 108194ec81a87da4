package dev.verbena.dart.receiver;

import dev.verbena.dart.DartException.Code;
import dev.verbena.dart.store.InboundMessage;
import dev.verbena.dart.store.InboundStream;
import dev.verbena.dart.wire.FrameFlyweight;
import dev.verbena.staging.Counters;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * Takes checked frames in the order of their stream, and puts messages together of them. Trusts
 * nothing that a frame says of its message.
 */
final class MessageTaker {
    private final ReceiverShared shared;
    private final MessageDelivery delivery;
    private final RankWatch ranks;

    MessageTaker(ReceiverShared shared, MessageDelivery delivery, RankWatch ranks) {
        this.shared = shared;
        this.delivery = delivery;
        this.ranks = ranks;
    }

    /**
     * The message into whose memory the payload of this frame can be read, each byte to its
     * position: it is the next one, or begins one. The header is not checked yet: nothing but bytes
     * behind the message's end may change before it is.
     *
     * @param spare for a message that begins
     * @return null if the payload must be read elsewhere
     */
    InboundMessage destination(InboundStream stream, FrameFlyweight frame, InboundMessage spare) {
        boolean isUnusual =
                frame.sequence() != stream.nextWanted()
                        || (frame.flags() & FrameFlyweight.GIVEN_UP) != 0;
        if (!shared.isAssembling || isUnusual) {
            return null;
        }
        InboundMessage message = stream.find(frame.clientId(), frame.messageSequence());
        if (message == null && frame.position() == 0) {
            if (!shared.hasMemoryFor(stream, spare, frame.payloadLength())) {
                return null;
            }
            spare.makeRoomAtStart(frame.payloadLength());
            return spare;
        }
        if (message == null
                || frame.position() == 0
                || !message.isAt(frame)
                || message.positionMax() - message.position() < frame.payloadLength()
                || !shared.hasMemoryFor(stream, message, end(frame))) {
            return null;
        }
        message.makeRoom(end(frame));
        return message;
    }

    /** Of a frame whose position and length are those of a message that may be in memory. */
    private static int end(FrameFlyweight frame) {
        return (int) frame.position() + frame.payloadLength();
    }

    /**
     * Takes the next frame of a stream.
     *
     * @param payload holds its payload from offset on
     * @param inPlace the message in whose memory the payload is already; null: none. If it is not
     *     yet in the stream and this frame begins it, it is now
     * @return false if it cannot be taken now; come again with the same frame
     */
    boolean take(
            InboundStream stream,
            FrameFlyweight frame,
            UnsafeBuffer payload,
            int offset,
            InboundMessage inPlace) {
        if (stream.frames().isFull()) {
            return false;
        }
        if (!stream.hasWindowFor(frame.payloadLength())) {
            throw ReceiverShared.malformed(frame, "beyond the window that was granted");
        }
        if ((frame.flags() & FrameFlyweight.NOTICES) != 0) {
            ranks.onNotice(stream, frame, payload, shared.clock.nanoTime());
            stream.taken(null, 0, 0, true);
            stream.settle();
            return true;
        }
        InboundMessage message = stream.find(frame.clientId(), frame.messageSequence());
        boolean isLast = (frame.flags() & FrameFlyweight.LAST) != 0;
        if (takeKnown(stream, frame, message, isLast)) {
            return true;
        }
        if (message == null && !stream.hasRoomFor(frame.clientId())) {
            return refuse(stream, frame, "more clients than this receiver remembers of a server");
        }
        if (message != null && message.isAside()) {
            if (stream.wanted() != message) {
                if (stream.wanted() != null) {
                    // Of an earlier connection.
                    stream.wanted().unwant();
                }
                stream.want(message);
                shared.wanted.add(stream);
            }
            message.want();
            return false;
        }
        boolean isNew = frame.position() == 0;
        if (isNew && message == null && !hasMemoryFor(stream, null, frame, inPlace)) {
            return false;
        }
        if (isNew && message == null) {
            if ((frame.flags() & FrameFlyweight.FIRST) == 0) {
                throw ReceiverShared.malformed(frame, "begins a message without saying so");
            }
            message = begin(stream, frame, payload, offset, inPlace);
            if (message == null) {
                return false;
            }
        }
        if (message == null && stream.hasLostBeginnings()) {
            return refuse(stream, frame, "its beginning is gone");
        }
        if (message == null) {
            throw ReceiverShared.malformed(frame, "belongs to no message that was begun");
        }
        if (frame.position() != message.position()) {
            throw ReceiverShared.malformed(
                    frame, "position " + frame.position() + ", not " + message.position());
        }
        return append(stream, frame, payload, offset, message, inPlace);
    }

    /**
     * Appends the frame to its message, whose next part it is.
     *
     * @param inPlace the message if the payload is in its memory already
     */
    private boolean append(
            InboundStream stream,
            FrameFlyweight frame,
            UnsafeBuffer payload,
            int offset,
            InboundMessage message,
            InboundMessage inPlace) {
        int skip = frame.position() == 0 ? message.metadataLength() : 0;
        boolean isLast = (frame.flags() & FrameFlyweight.LAST) != 0;
        int length = frame.payloadLength() - skip;
        long left = message.metadata().payloadLength() - message.received();
        if (length > left || isLast && length < left) {
            throw ReceiverShared.malformed(
                    frame, length + " bytes of payload where " + left + " are left");
        }
        if (skip == 0 && !hasMemoryFor(stream, message, frame, inPlace)) {
            return false;
        }
        if (message.file() != null
                && (shared.crowd > message.memoryLength()
                        || !shared.files.hasRoom(message, payload, offset + skip, length))) {
            return false;
        }
        if (skip == 0 || !shared.environment.carriesPayloads()) {
            message.crc().append(frame.payloadChecksum(), length);
        } else {
            message.crc().update(payload, offset + skip, length);
        }
        if (shared.isAssembling && message != inPlace) {
            message.assemble(payload, offset + skip, length);
        }
        message.took(frame, length, shared.tookFrame(length));
        shared.grew(message);
        stream.taken(message, message.received(), length, isLast);
        if (isLast) {
            delivery.complete(stream, message);
        }
        stream.settle();
        shared.recycle(stream);
        return true;
    }

    /** Whether there is memory for the payload, or it is in the message's memory already. */
    private boolean hasMemoryFor(
            InboundStream stream,
            InboundMessage message,
            FrameFlyweight frame,
            InboundMessage inPlace) {
        return !shared.isAssembling
                || inPlace != null
                || shared.hasMemoryFor(stream, message, end(frame));
    }

    /** Frames that need no work: of a message given up, delivered, or received up to here. */
    private boolean takeKnown(
            InboundStream stream, FrameFlyweight frame, InboundMessage message, boolean isLast) {
        if ((frame.flags() & FrameFlyweight.GIVEN_UP) != 0) {
            if (message != null && message.state() == InboundMessage.RECEIVING) {
                shared.giveUp(stream, message);
            }
            stream.taken(null, 0, 0, true);
        } else if (stream.hasDelivered(frame.clientId(), frame.messageSequence())) {
            stream.taken(stream.findHeld(frame.clientId(), frame.messageSequence()), 0, 0, isLast);
        } else if (delivery.isDeliveredElsewhere(stream, frame.clientId(), frame.messageSequence())
                && (message == null || message.state() == InboundMessage.RECEIVING)) {
            if (message != null) {
                shared.leaveStep(message);
                shared.forget(stream, message);
            }
            // What a sink does not have yet is confirmed through no server.
            stream.taken(
                    delivery.heldElsewhere(stream, frame.clientId(), frame.messageSequence()),
                    0,
                    0,
                    isLast);
        } else if (message != null
                && frame.position() + frame.payloadLength() <= message.position()) {
            long end = frame.position() + frame.payloadLength() - message.metadataLength();
            stream.taken(message, end, frame.payloadLength(), isLast);
        } else if (message == null && isOfOneGivenUp(stream, frame)) {
            stream.taken(null, 0, 0, isLast);
        } else {
            return false;
        }
        stream.settle();
        return true;
    }

    /**
     * Whether a frame that comes again is of a message that was given up behind it: the message
     * would be here otherwise, or come again from its beginning and before what followed it.
     */
    private static boolean isOfOneGivenUp(InboundStream stream, FrameFlyweight frame) {
        return stream.frames().wasTaken(frame.sequence())
                && !stream.hasLostBeginnings()
                && (frame.position() > 0 || stream.open().containsKey(frame.clientId()));
    }

    private InboundMessage begin(
            InboundStream stream,
            FrameFlyweight frame,
            UnsafeBuffer payload,
            int offset,
            InboundMessage inPlace) {
        InboundMessage unfinished = stream.open().get(frame.clientId());
        if (unfinished != null) {
            shared.giveUp(stream, unfinished);
        }
        InboundMessage message = inPlace == null ? shared.spare() : inPlace;
        boolean isBegun = false;
        boolean isAdmitted = false;
        try {
            message.begin(
                    frame.clientId(), stream.serverId(), frame.tag(), frame.messageSequence());
            message.decode(payload, offset, frame.payloadLength());
            if (shared.isAssembling
                    && message.metadata().payloadLength() > shared.settings.messageLengthMax()) {
                throw ReceiverShared.malformed(
                        frame,
                        "message of %s bytes, messageLengthMax is %s"
                                .formatted(
                                        message.metadata().payloadLength(),
                                        shared.settings.messageLengthMax()));
            }
            message.job(stream.job());
            if (shared.steps != null && !shared.steps.admit(stream, message)) {
                return null;
            }
            isAdmitted = true;
            if (shared.files != null) {
                shared.files.begin(message);
            }
            isBegun = true;
        } finally {
            if (isAdmitted && !isBegun) {
                shared.leaveStep(message);
            }
            if (!isBegun && inPlace == null) {
                shared.toPool(message);
            }
        }
        message.joinStream();
        shared.outOfPool(message);
        stream.open().put(message.clientId(), message);
        return message;
    }

    /**
     * A message that cannot be taken, as the rest of one whose beginning is gone. Acknowledged it
     * must not be: its server gives it up, and its process hears that.
     */
    private boolean refuse(InboundStream stream, FrameFlyweight frame, String why) {
        if (!stream.session().refuse(frame)) {
            return false;
        }
        Counters.add(shared.abandoned, 1);
        shared.report(
                Code.TRANSFER_FAILED.because(
                        "message %s of client %s is lost: %s",
                        frame.messageSequence(), frame.clientId(), why));
        return true;
    }
}
