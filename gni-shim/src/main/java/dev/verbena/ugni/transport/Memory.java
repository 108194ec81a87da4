package dev.verbena.ugni.transport;

import org.agrona.concurrent.UnsafeBuffer;

/** Toolkit memory of the transport's own that is registered, and its memory handle. */
final class Memory {
    final long address;
    final long low;
    final long high;
    final UnsafeBuffer bytes;

    Memory(long address, int length, long low, long high) {
        this.address = address;
        this.low = low;
        this.high = high;
        this.bytes = new UnsafeBuffer(address, length);
    }
}
