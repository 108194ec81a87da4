package dev.verbena.verbs;

import dev.verbena.rdma.calls.VerbsLayout;

/**
 * A key of its own for a part of a region, given and taken back by a posted request instead of a
 * call into the kernel: {@code struct ibv_mw}.
 *
 * <p>A window holds the region that it was last bound to: that cannot be closed before the window
 * is, or is bound elsewhere. It cannot itself be closed while a posted request binds it. What
 * invalidates its key, here or by the peer's send, is reported by completions only, so it holds the
 * region after that, too.
 *
 * <p>Windows of type 2 are bound by one thread: the first that posts a request which binds it,
 * until it {@linkplain #handOver hands over}. Those of type 1 by any.
 */
public final class MemoryWindow extends DomainObject {
    private static final int TAG_MASK = 0xff;

    private final MemoryWindowType type;
    private final ThreadClaim binding = new ThreadClaim("a memory window");
    private volatile int remoteKey;
    private volatile MemoryRegion bound;

    MemoryWindow(ProtectionDomain domain, MemoryWindowType type, long address) {
        super(
                "memory window of %s with key 0x%x of %s"
                        .formatted(
                                type,
                                CallMemory.getInt(address + VerbsLayout.MW_RKEY),
                                domain.device().info().name()),
                address,
                DestroyCall.MEMORY_WINDOW,
                domain);
        this.type = type;
        this.remoteKey = CallMemory.getInt(address + VerbsLayout.MW_RKEY);
    }

    /** Kind. */
    public MemoryWindowType type() {
        return type;
    }

    /**
     * Key that peers' requests name it by, as it was last bound.
     *
     * @throws IllegalStateException after close
     */
    public int remoteKey() {
        address();
        return remoteKey;
    }

    /**
     * A key to bind a window of type 2 with next: the last one with its lowest 8 bits counted up
     * ({@code ibv_inc_rkey}).
     *
     * @throws IllegalStateException after close
     */
    public int nextKey() {
        int key = remoteKey();
        return key & ~TAG_MASK | key + 1 & TAG_MASK;
    }

    /**
     * Lets another thread bind it, by the one that did so far.
     *
     * @throws IllegalStateException if another living thread binds it
     */
    public void handOver() {
        binding.handOver();
    }

    /** False if another thread binds it. */
    boolean isBoundHere() {
        return binding.tryCheck();
    }

    /** Refuses what the device would answer by breaking the queue pair. */
    void checkBinding(MemoryRegion region, long offset, long length, int access) {
        address();
        region.address();
        region.checkOf(domain());
        if ((region.access() & Access.WINDOW_BIND) == 0) {
            throw new IllegalArgumentException(
                    region + " was registered without Access.WINDOW_BIND");
        }
        int allowed =
                Access.REMOTE_READ
                        | Access.REMOTE_WRITE
                        | Access.REMOTE_ATOMIC
                        | (type == MemoryWindowType.TYPE_2 ? Access.ZERO_BASED : 0);
        if ((access & ~allowed) != 0) {
            throw new IllegalArgumentException(
                    "access 0x" + Integer.toHexString(access) + " of a window: remote access only");
        }
        if ((access & (Access.REMOTE_WRITE | Access.REMOTE_ATOMIC)) != 0
                && (region.access() & Access.LOCAL_WRITE) == 0) {
            throw new IllegalArgumentException(region + " was registered without LOCAL_WRITE");
        }
        region.checkedAddress(offset, length);
    }

    void checkKey(int key) {
        if (type != MemoryWindowType.TYPE_2) {
            throw new IllegalArgumentException(
                    this + " is bound by QueuePair.bind; only type 2 is bound by a send request");
        }
        if (((key ^ remoteKey()) & ~TAG_MASK) != 0) {
            throw new IllegalArgumentException(
                    ("key 0x%x differs in more than its lowest 8 bits from that of %s;"
                                    + " take nextKey()")
                            .formatted(key, this));
        }
    }

    /** What it is bound to once the requests posted so far are done, or null. */
    MemoryRegion bound() {
        return bound;
    }

    /** By the posting thread, before the request is posted, or when it was not taken. */
    void bound(MemoryRegion region) {
        bound = region;
    }

    /** By the posting thread, when the request was taken. The library reads the key of the next. */
    void keyBound(int key) {
        synchronized (lock()) { // its completion may be polled already, and the window closed
            long address = addressOrZero();
            if (address != 0) {
                CallMemory.putInt(address + VerbsLayout.MW_RKEY, key);
                remoteKey = key;
            }
        }
    }

    /** Under the lock: the library has chosen a key. */
    void keyChosen() {
        remoteKey = CallMemory.getInt(address() + VerbsLayout.MW_RKEY);
    }

    @Override
    void checkMayClose() {
        checkNotUsed();
    }

    @Override
    void onClosed(long formerAddress) {
        bound = null;
    }
}
