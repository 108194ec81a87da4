package dev.verbena.transport.core;

import dev.verbena.memory.RemoteDescriptor;
import dev.verbena.transport.Operation;
import dev.verbena.transport.Status;

/** Checks of ranges and descriptors that come from anywhere. Allocates nothing. Thread-safe. */
public final class Ranges {
    private Ranges() {}

    /**
     * Whether a range lies inside, whatever the numbers are: no sum or difference of two that are
     * not negative leaves 63 bits and a sign.
     *
     * @param capacity bytes that there are, not negative
     */
    public static boolean isInside(long offset, long length, long capacity) {
        long left = capacity - length;
        return (offset | length | left | (left - offset)) >= 0;
    }

    /**
     * What a descriptor itself says to an operation.
     *
     * @param kind of the provider, see {@link RemoteDescriptor}
     * @param right that the operation needs
     * @return {@code OK}, {@code STALE_KEY} for another provider's, {@code ACCESS} or {@code
     *     BOUNDS}, see {@link Status}
     */
    public static int check(
            RemoteDescriptor descriptor, int kind, int right, long offset, long length) {
        if (descriptor.kind() != kind) {
            return Status.STALE_KEY;
        }
        if ((descriptor.rights() & right) == 0) {
            return Status.ACCESS;
        }
        return isInside(offset, length, descriptor.length()) ? Status.OK : Status.BOUNDS;
    }

    /**
     * The right that an operation needs at the target.
     *
     * @param operation see {@link Operation}
     */
    public static int right(int operation) {
        return switch (operation) {
            case Operation.GET -> RemoteDescriptor.REMOTE_READ;
            case Operation.PUT, Operation.PUT_NOTIFY -> RemoteDescriptor.REMOTE_WRITE;
            default -> RemoteDescriptor.REMOTE_ATOMIC;
        };
    }

    /**
     * Refuses an atomic that is not aligned.
     *
     * @throws IllegalArgumentException if so; names both numbers
     */
    public static void requireAligned(RemoteDescriptor target, long targetOffset) {
        if ((target.base() + targetOffset & Long.BYTES - 1) != 0) {
            throw new IllegalArgumentException(
                    ("targetOffset %s: an atomic needs 8 aligned bytes; the descriptor "
                                    + "begins at %s")
                            .formatted(targetOffset, target.base()));
        }
    }
}
