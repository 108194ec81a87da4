package dev.verbena.verbs.transport;

import dev.verbena.transport.core.ConnectionTable;
import dev.verbena.verbs.MemoryRegion;
import dev.verbena.verbs.Post;
import dev.verbena.verbs.ReceiveRequests;
import dev.verbena.verbs.internal.OwnershipTransfer;
import java.util.Arrays;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * The receive slots of a transport: posted to the NIC, being handled, or retained. They are made
 * for as many connections as there ever were at a time. Owned by the transport's thread.
 */
final class ReceivePool implements AutoCloseable {
    private static final byte POSTED = 0;
    private static final byte TAKEN = 1;
    private static final byte DELIVERING = 2;
    private static final byte RETAINED = 3;
    private static final int SLOT_BITS = 22;
    private static final int SLOT_MASK = (1 << SLOT_BITS) - 1;

    private final VerbsResources resources;
    private final int slotLength;
    private final int slotsPerConnection;
    private final int chunkMax;
    private final NicMemory memory;
    private final ReceiveRequests request;
    private UnsafeBuffer[] buffers = new UnsafeBuffer[0];
    private byte[] states = new byte[0];
    private long[] serials = new long[0];

    /** Handle of the connection whose message a slot has. */
    private long[] handles = new long[0];

    ReceivePool(
            VerbsResources resources,
            int messageLengthMax,
            int slotsPerConnection,
            int connectionsMax) {
        this.resources = resources;
        this.slotLength = messageLengthMax + 7 & ~7;
        this.slotsPerConnection = slotsPerConnection;
        this.chunkMax = connectionsMax;
        this.memory = new NicMemory(resources);
        this.request = resources.shared.newReceives(1);
    }

    /** Makes sure that there are slots for so many connections. */
    void reserve(int connections, ConnectionTable<?> table) {
        while (memory.count() < Math.min(connections + kept(table), chunkMax)) {
            grow();
        }
    }

    /** Whether there can be slots for so many connections. */
    boolean hasRoom(int connections, ConnectionTable<?> table) {
        return connections + kept(table) <= chunkMax;
    }

    /** Connections whose slots are filled with retained messages of connections that have ended. */
    private int kept(ConnectionTable<?> table) {
        int orphans = 0;
        for (int slot = 0; slot < states.length; slot++) {
            if (states[slot] == RETAINED && table.find(handles[slot]) == null) {
                orphans++;
            }
        }
        return (orphans + slotsPerConnection - 1) / slotsPerConnection;
    }

    private void grow() {
        long length = (long) slotsPerConnection * slotLength;
        MemoryRegion region = memory.add(length);
        int first = states.length;
        int count = first + slotsPerConnection;
        states = Arrays.copyOf(states, count);
        serials = Arrays.copyOf(serials, count);
        handles = Arrays.copyOf(handles, count);
        buffers = Arrays.copyOf(buffers, memory.count());
        buffers[memory.count() - 1] = region.buffer(0, Math.toIntExact(length));
        for (int slot = first; slot < count; slot++) {
            post(slot);
        }
    }

    /** Gives a slot to the NIC. */
    void post(int slot) {
        states[slot] = POSTED;
        MemoryRegion region = memory.get(slot / slotsPerConnection);
        request.set(0, slot, region, offset(slot), slotLength);
        int result = resources.shared.post(request, 0, 1);
        if (result != 1) {
            throw new IllegalStateException(
                    "receive slot " + slot + " cannot be posted: " + Post.name(result));
        }
    }

    /** Whether a completion can name this slot. */
    boolean isPosted(long slot) {
        return slot >= 0 && slot < states.length && states[(int) slot] == POSTED;
    }

    /** The NIC has filled it. */
    void take(int slot) {
        states[slot] = TAKEN;
    }

    UnsafeBuffer buffer(int slot) {
        return buffers[slot / slotsPerConnection];
    }

    int offset(int slot) {
        return slot % slotsPerConnection * slotLength;
    }

    /** A handler is about to see it; answers the token. */
    long deliver(int slot, long handle) {
        states[slot] = DELIVERING;
        handles[slot] = handle;
        return ++serials[slot] << SLOT_BITS | slot;
    }

    /** The handler has returned; true if it did not retain the message. */
    boolean isDone(int slot) {
        return states[slot] == DELIVERING;
    }

    void retain(long token) {
        states[slot(token, DELIVERING, "is not being handled")] = RETAINED;
    }

    /** The slot of a retained message, which the caller posts. */
    int release(long token) {
        int slot = slot(token, RETAINED, "is not retained");
        states[slot] = TAKEN;
        return slot;
    }

    long handle(int slot) {
        return handles[slot];
    }

    private int slot(long token, byte state, String otherwise) {
        int slot = (int) token & SLOT_MASK;
        if (token <= 0
                || slot >= states.length
                || serials[slot] != token >>> SLOT_BITS
                || states[slot] != state) {
            throw new IllegalStateException("message " + token + " " + otherwise);
        }
        return slot;
    }

    void takeOver() {
        OwnershipTransfer.takeOver(request);
    }

    /** After the queue is closed. */
    @Override
    public void close() {
        request.close();
        memory.close();
    }
}
