package dev.verbena.dart.client;

import dev.verbena.dart.DartException.Code;
import dev.verbena.dart.DartReverseHandler;
import dev.verbena.dart.DartSteering;
import dev.verbena.dart.wire.ControlFlyweight;
import dev.verbena.dart.wire.ControlOutbox;
import dev.verbena.dart.wire.PieceFlyweight;
import dev.verbena.memory.RegisteredRegion;
import dev.verbena.memory.RemoteDescriptor;
import dev.verbena.transport.Transport;
import java.util.Arrays;
import org.agrona.ErrorHandler;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * What comes back to a compute process: slots of memory into which the server puts pieces of
 * messages, piece {@code n} into slot {@code n} modulo their number. What was taken out is told to
 * the server, whose next pieces may then follow. Allocates nothing once the longest message has
 * been seen. One thread, the client's.
 */
final class ClientInbox {
    private static final long UNKNOWN = -1;

    private final ControlOutbox outbox;
    private final ErrorHandler errors;
    private final int slotCount;
    private final int lengthMax;
    private final RegisteredRegion slots;
    private final UnsafeBuffer memory;
    private final RemoteDescriptor descriptor = new RemoteDescriptor();
    private final PieceFlyweight piece = new PieceFlyweight();
    private final DartSteering steering = new DartSteering(0);
    private final boolean[] hasArrived;
    private final UnsafeBuffer message = new UnsafeBuffer(new byte[0]);
    private byte[] assembly = new byte[0];
    private int assembled = -1;
    private int skipped = -1;

    /** Number of the last piece taken out; unknown until the first has come. */
    private long taken = UNKNOWN;

    private long told;
    private boolean isTellingDue;

    /** A handler has a message. */
    boolean isReceiving;

    private ServedBy server = ServedBy.NOBODY;

    ClientInbox(
            Transport transport,
            ControlOutbox outbox,
            int slotCount,
            int lengthMax,
            ErrorHandler errors) {
        this.outbox = outbox;
        this.slotCount = slotCount;
        this.lengthMax = lengthMax;
        this.errors = errors;
        this.hasArrived = new boolean[slotCount];
        int length = slotCount * PieceFlyweight.LENGTH_MAX;
        slots = transport.allocate(length, RemoteDescriptor.REMOTE_WRITE);
        memory = slots.buffer(0, length);
        slots.describe(0, length, RemoteDescriptor.REMOTE_WRITE, descriptor);
    }

    /** A server serves this process from now on; it is told before any header. */
    void connected(ServedBy another) {
        server = another;
        isTellingDue = true;
        tell();
    }

    /** The server knows of this inbox, or will before what is sent now. */
    boolean isOpen() {
        return !isTellingDue || tell();
    }

    private boolean tell() {
        ControlFlyweight record = outbox.begin(ControlFlyweight.INBOX, server.job());
        if (record == null) {
            return false;
        }
        record.inbox(server.clientId(), slotCount, taken, PieceFlyweight.LENGTH_MAX)
                .descriptor(descriptor);
        if (outbox.send(record, server.connection()) != Transport.ACCEPTED) {
            return false;
        }
        isTellingDue = false;
        told = taken;
        return true;
    }

    int doWork() {
        return isTellingDue && tell() ? 1 : 0;
    }

    /** A piece was put. */
    void onNotify(int slot, long regionId) {
        if (regionId != slots.id() || slot < 0 || slot >= slotCount) {
            return;
        }
        hasArrived[slot] = true;
        if (taken == UNKNOWN) {
            int at = slot * PieceFlyweight.LENGTH_MAX;
            if (piece.wrap(memory, at, PieceFlyweight.LENGTH_MAX) == null) {
                taken = piece.number() - 1;
            }
        }
    }

    /** Hands over whole messages; how many. */
    int receive(DartReverseHandler handler, int limit) {
        if (isReceiving) {
            throw new IllegalStateException(
                    "receive in a handler of receive: call it again when that has returned");
        }
        isReceiving = true;
        int count = 0;
        try {
            while (count < limit && hasNext()) {
                count += take(handler) ? 1 : 0;
            }
        } finally {
            isReceiving = false;
            boolean isHalf = taken - told >= Math.max(1, slotCount / 2);
            isTellingDue |= taken != told && (isHalf || !hasNextArrived());
            doWork();
        }
        return count;
    }

    private int nextSlot() {
        return (int) ((taken + 1) % slotCount);
    }

    private boolean hasNextArrived() {
        return taken != UNKNOWN && hasArrived[nextSlot()];
    }

    private boolean hasNext() {
        if (!hasNextArrived()) {
            return false;
        }
        int slot = nextSlot();
        int at = slot * PieceFlyweight.LENGTH_MAX;
        String trouble = piece.wrap(memory, at, PieceFlyweight.LENGTH_MAX);
        boolean isNext = trouble == null && piece.number() == taken + 1;
        // Otherwise it is an old one that was put again, or one that is being put: it comes yet.
        hasArrived[slot] = isNext;
        return isNext;
    }

    /** Takes the piece that {@link #hasNext} found; true if a message was handed over. */
    private boolean take(DartReverseHandler handler) {
        boolean isLast = piece.position() + piece.payloadLength() == piece.messageLength();
        try {
            if (piece.position() == 0) {
                begin();
            }
            if (piece.position() == 0 && isLast) {
                hand(handler, memory, piece.payloadOffset(), piece.payloadLength());
                return true;
            }
            if (skipped >= 0 || piece.position() != assembled) {
                skip(isLast);
                return false;
            }
            memory.getBytes(piece.payloadOffset(), assembly, assembled, piece.payloadLength());
            assembled += piece.payloadLength();
            if (!isLast) {
                return false;
            }
            message.wrap(assembly, 0, assembled);
            assembled = -1;
            hand(handler, message, 0, message.capacity());
            return true;
        } finally {
            hasArrived[nextSlot()] = false;
            taken++;
        }
    }

    private void begin() {
        if (assembled >= 0) {
            errors.onError(
                    Code.TRANSFER_FAILED.because(
                            "a message from the receiver ended after %s bytes: another receiver "
                                    + "took over",
                            assembled));
        }
        assembled = 0;
        skipped = -1;
        if (piece.messageLength() > lengthMax) {
            errors.onError(
                    Code.TRANSFER_FAILED.because(
                            "a message of %s bytes from the receiver is dropped; "
                                    + "inboxMessageMax is %s",
                            piece.messageLength(), lengthMax));
            assembled = -1;
            skipped = 0;
        } else if (assembly.length < piece.messageLength()
                && piece.payloadLength() < piece.messageLength()) {
            assembly = Arrays.copyOf(assembly, piece.messageLength());
        }
    }

    private void skip(boolean isLast) {
        if (skipped < 0) {
            errors.onError(
                    Code.MALFORMED.because(
                            "piece %s from the receiver belongs to no message that was begun",
                            piece.number()));
        }
        skipped = isLast ? -1 : 0;
        assembled = -1;
    }

    private void hand(DartReverseHandler handler, UnsafeBuffer buffer, int offset, int length) {
        assembled = -1;
        if (skipped >= 0) {
            skipped = -1;
            return;
        }
        if (piece.kind() == PieceFlyweight.STEERING) {
            handler.onSteering(steering.decode(buffer, offset, length));
        } else {
            handler.onMessage(piece.type(), buffer, offset, length);
        }
    }

    void close() {
        slots.close();
    }
}
