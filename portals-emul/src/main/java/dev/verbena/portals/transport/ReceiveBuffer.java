package dev.verbena.portals.transport;

import dev.verbena.portals.MatchEntry;
import dev.verbena.portals.MemoryDescriptor;
import dev.verbena.portals.MemoryDescriptorContext;
import dev.verbena.portals.PortalsMemory;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * One buffer of a {@link ReceiveQueue}, and the entry and descriptor that it has now, if any.
 * Others read the fields; the methods write them.
 */
final class ReceiveBuffer {
    /** Waits for its turn. */
    static final int SPARE = 0;

    /** In the list. */
    static final int LINKED = 1;

    /** Out of the list; messages in it are still in use. */
    static final int UNLINKED = 2;

    final int index;
    final PortalsMemory memory;
    final UnsafeBuffer bytes;
    int state;
    MatchEntry entry;
    MemoryDescriptor descriptor;

    /** Counts attachments: the order in the list. */
    long turn;

    /** Bytes that may be other than zero. */
    private int used;

    /** Messages delivered or found, and not released. */
    int held;

    ReceiveBuffer(int index, PortalsMemory memory, int length) {
        this.index = index;
        this.memory = memory;
        this.bytes = memory.buffer(0, length);
    }

    /** It has an entry at the table, which takes nothing yet. */
    void entered(MatchEntry entry) {
        this.entry = entry;
    }

    /** Hangs a first descriptor on the entry. */
    void attach(MemoryDescriptorContext rules) {
        descriptor = entry.attach(rules, MemoryDescriptor.UNLINK);
    }

    /** It is in the list, behind those with smaller numbers. */
    void linked(long turn) {
        state = LINKED;
        this.turn = turn;
    }

    /** It is out of the list. */
    void unlinked() {
        state = UNLINKED;
    }

    /** Whether it waits for nothing but to be used again. */
    boolean isDone() {
        return held == 0 && state == UNLINKED;
    }

    /** Peers may have written up to there, as far as it reaches. */
    void written(long end) {
        used = (int) Math.max(used, Math.min(end, bytes.capacity()));
    }

    /** A message in it is in use. */
    void hold() {
        held++;
    }

    /** A message in it is not needed any more. */
    void release() {
        held--;
    }

    /** Is empty again. */
    void clear() {
        bytes.setMemory(0, used, (byte) 0);
        used = 0;
        state = SPARE;
    }
}
