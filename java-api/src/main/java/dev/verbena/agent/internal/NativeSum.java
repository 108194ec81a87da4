package dev.verbena.agent.internal;

import dev.verbena.softnic.bindings.softnic;
import java.util.zip.CRC32C;
import org.agrona.DirectBuffer;

/**
 * CRC-32C of much memory, as {@link CRC32C} gives it and faster: of 256 MiB that no cache had, 12
 * instead of 8.4 GB/s on the machine measured. Allocates nothing. Thread-safe.
 */
public final class NativeSum {
    private NativeSum() {}

    /** Whether it is faster here, and the buffer is not in the Java heap. */
    public static boolean isBetterFor(DirectBuffer buffer) {
        return buffer.byteArray() == null && softnic.snic_sums_are_fast() == 1;
    }

    /** Of a range of a buffer that is not in the Java heap. */
    public static int of(DirectBuffer buffer, int offset, int length) {
        buffer.boundsCheck(offset, length);
        return softnic.snic_sum(0, buffer.addressOffset() + offset, length);
    }
}
