package dev.verbena.dart.wire;

import dev.verbena.staging.control.RecordOutbox;
import dev.verbena.transport.Transport;
import java.util.UUID;
import org.agrona.DirectBuffer;

/** A {@link RecordOutbox} of DART's control records. Owned by the transport's thread. */
public final class ControlOutbox implements AutoCloseable {
    private final RecordOutbox slots;
    private final ControlFlyweight record = new ControlFlyweight();

    public ControlOutbox(Transport transport, int slotCount, long contextBase) {
        slots =
                new RecordOutbox(
                        transport, slotCount, ControlFlyweight.MESSAGE_LENGTH_MAX, contextBase);
    }

    /** Begins a record, or null if no slot is free now: {@link #send} must follow. */
    public ControlFlyweight begin(int type, UUID job) {
        int at = slots.next();
        return at < 0 ? null : record.begin(slots.buffer(), at, type, job);
    }

    /** Begins a FORWARD of a REGISTER, or null if no slot is free now. */
    public ControlFlyweight beginForward(
            ControlFlyweight register, int assignedId, int generation) {
        int at = slots.next();
        return at < 0
                ? null
                : register.registration().asForward(slots.buffer(), at, assignedId, generation);
    }

    /** Sends the record begun last; the transport's answer. */
    public int send(ControlFlyweight begun, long connection) {
        begun.end();
        int text = begun.type() == ControlFlyweight.HEARTBEAT ? begun.metadataLength() : 0;
        return slots.send(connection, ControlFlyweight.LENGTH + text);
    }

    /** Sends a record that was made elsewhere, with what follows it; the transport's answer. */
    public int sendMade(DirectBuffer made, int length, long connection) {
        int at = slots.next();
        if (at < 0) {
            return Transport.BACK_PRESSURED;
        }
        slots.buffer().putBytes(at, made, 0, length);
        return slots.send(connection, length);
    }

    /** The send of this slot has completed. */
    public void onCompletion(long context) {
        slots.onCompletion(context);
    }

    public boolean isIdle() {
        return slots.isIdle();
    }

    @Override
    public void close() {
        slots.close();
    }
}
