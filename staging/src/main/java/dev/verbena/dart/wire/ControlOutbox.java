package dev.verbena.dart.wire;

import dev.verbena.memory.RegisteredRegion;
import dev.verbena.transport.Transport;
import java.util.UUID;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * Registered memory for outgoing control records. A record occupies its slot until its send has
 * completed. Owned by the transport's thread.
 */
public final class ControlOutbox implements AutoCloseable {
    /** Bytes of a slot: a record and the longest text behind it. */
    private static final int SLOT_LENGTH =
            ControlFlyweight.LENGTH + ControlFlyweight.TEXT_LENGTH_MAX;

    private final Transport transport;
    private final RegisteredRegion region;
    private final UnsafeBuffer buffer;
    private final ControlFlyweight record = new ControlFlyweight();
    private final int[] free;
    private final long contextBase;
    private int freeCount;
    private int slot;

    public ControlOutbox(Transport transport, int slotCount, long contextBase) {
        this.contextBase = contextBase;
        this.transport = transport;
        this.region = transport.allocate((long) slotCount * SLOT_LENGTH, 0);
        this.buffer = region.buffer(0, slotCount * SLOT_LENGTH);
        this.free = new int[slotCount];
        for (int i = 0; i < slotCount; i++) {
            free[i] = i;
        }
        freeCount = slotCount;
    }

    /** Begins a record, or null if no slot is free now: {@link #send} must follow. */
    public ControlFlyweight begin(int type, UUID job) {
        if (freeCount == 0) {
            return null;
        }
        slot = free[freeCount - 1];
        return record.begin(buffer, slot * SLOT_LENGTH, type, job);
    }

    /** Begins a FORWARD of a REGISTER, or null if no slot is free now. */
    public ControlFlyweight beginForward(
            ControlFlyweight register, int assignedId, int generation) {
        if (freeCount == 0) {
            return null;
        }
        slot = free[freeCount - 1];
        return register.registration()
                .asForward(buffer, slot * SLOT_LENGTH, assignedId, generation);
    }

    /** Sends the record begun last; the transport's answer. */
    public int send(ControlFlyweight begun, long connection) {
        begun.end();
        int text = begun.type() == ControlFlyweight.HEARTBEAT ? begun.metadataLength() : 0;
        int answer =
                transport.send(
                        connection,
                        region,
                        (long) slot * SLOT_LENGTH,
                        ControlFlyweight.LENGTH + text,
                        contextBase + slot,
                        0);
        if (answer == Transport.ACCEPTED) {
            freeCount--;
        }
        return answer;
    }

    /** The send of this slot has completed. */
    public void onCompletion(long context) {
        free[freeCount++] = (int) (context - contextBase);
    }

    public boolean isIdle() {
        return freeCount == free.length;
    }

    @Override
    public void close() {
        region.close();
    }
}
