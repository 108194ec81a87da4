package dev.verbena.portals.transport;

import dev.verbena.portals.MatchEntry;
import dev.verbena.portals.MemoryDescriptor;
import dev.verbena.portals.PortalsMemory;
import org.agrona.concurrent.UnsafeBuffer;

/** One buffer of a {@link ReceiveQueue}, and the entry and descriptor that it has now, if any. */
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
    int used;

    /** Messages delivered or found, and not released. */
    int held;

    ReceiveBuffer(int index, PortalsMemory memory, int length) {
        this.index = index;
        this.memory = memory;
        this.bytes = memory.buffer(0, length);
    }
}
