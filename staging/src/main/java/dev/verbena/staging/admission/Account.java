package dev.verbena.staging.admission;

import java.util.concurrent.atomic.AtomicLong;

/**
 * How many bytes of memory or disk are taken, and at most may be. What is taken is reserved before
 * it is allocated and released after it was freed. An account of one peer lies within another one
 * that bounds all: bytes are reserved in both or in neither. One thread; {@link #reserved} may be
 * read by any.
 */
public final class Account {
    private final Account total;
    private final long capacity;
    private final AtomicLong reserved = new AtomicLong();

    /** An account of its own. */
    public Account(long capacity) {
        this(null, capacity);
    }

    /**
     * One within another.
     *
     * @param total null: none
     */
    public Account(Account total, long capacity) {
        if (capacity < 0) {
            throw new IllegalArgumentException("capacity " + capacity + " is negative");
        }
        this.total = total;
        this.capacity = capacity;
    }

    /** Whether as much will ever fit: what does not need not wait. */
    public boolean isWithinCapacity(long bytes) {
        return bytes >= 0 && bytes <= capacity && (total == null || total.isWithinCapacity(bytes));
    }

    /** Reserves these bytes; false: there is no room now, and nothing was reserved. */
    public boolean reserve(long bytes) {
        checkNotNegative(bytes);
        // Compared so that no sum can overflow.
        if (bytes > free() || total != null && !total.reserve(bytes)) {
            return false;
        }
        reserved.lazySet(reserved.get() + bytes);
        return true;
    }

    /** Counts bytes that are taken already, whether or not there is room for them. */
    public void charge(long bytes) {
        checkNotNegative(bytes);
        reserved.lazySet(reserved.get() + bytes);
        if (total != null) {
            total.charge(bytes);
        }
    }

    /**
     * Gives bytes back.
     *
     * @throws IllegalStateException for more than are reserved
     */
    public void release(long bytes) {
        checkNotNegative(bytes);
        if (bytes > reserved.get()) {
            throw new IllegalStateException(
                    "release of " + bytes + " bytes of " + reserved.get() + " reserved");
        }
        reserved.lazySet(reserved.get() - bytes);
        if (total != null) {
            total.release(bytes);
        }
    }

    private static void checkNotNegative(long bytes) {
        if (bytes < 0) {
            throw new IllegalArgumentException(bytes + " bytes are negative");
        }
    }

    /** Bytes that may be reserved at most. */
    public long capacity() {
        return capacity;
    }

    /** Bytes that are reserved. */
    public long reserved() {
        return reserved.get();
    }

    /** Bytes that this account alone has room for; negative if more was charged. */
    public long free() {
        return capacity - reserved.get();
    }
}
