package dev.verbena.verbs;

import dev.verbena.rdma.calls.VerbsLayout;

/** What may be done to registered memory: {@code enum ibv_access_flags}, to be combined by or. */
public final class Access {
    /** Receives, reads and atomics may write here. */
    public static final int LOCAL_WRITE = VerbsLayout.IBV_ACCESS_LOCAL_WRITE;

    /** Peers may write; needs {@link #LOCAL_WRITE}. */
    public static final int REMOTE_WRITE = VerbsLayout.IBV_ACCESS_REMOTE_WRITE;

    /** Peers may read. */
    public static final int REMOTE_READ = VerbsLayout.IBV_ACCESS_REMOTE_READ;

    /** Peers may use atomics; needs {@link #LOCAL_WRITE}. */
    public static final int REMOTE_ATOMIC = VerbsLayout.IBV_ACCESS_REMOTE_ATOMIC;

    /** Memory windows may be bound to it. */
    public static final int WINDOW_BIND = VerbsLayout.IBV_ACCESS_MW_BIND;

    /** Peers address from 0 instead of by the address here. */
    public static final int ZERO_BASED = VerbsLayout.IBV_ACCESS_ZERO_BASED;

    /** Pages are brought in when touched, not pinned: on-demand paging. */
    public static final int ON_DEMAND = VerbsLayout.IBV_ACCESS_ON_DEMAND;

    /** Only with {@link #ON_DEMAND}: the memory is of huge pages. */
    public static final int HUGE_PAGES = VerbsLayout.IBV_ACCESS_HUGETLB;

    /** The NIC may reorder writes to memory. */
    public static final int RELAXED_ORDERING = VerbsLayout.IBV_ACCESS_RELAXED_ORDERING;

    /** Everything that peers may be allowed, with {@link #LOCAL_WRITE}. */
    public static final int REMOTE_ALL = LOCAL_WRITE | REMOTE_WRITE | REMOTE_READ | REMOTE_ATOMIC;

    private static final int KNOWN =
            REMOTE_ALL | WINDOW_BIND | ZERO_BASED | ON_DEMAND | HUGE_PAGES | RELAXED_ORDERING;

    private Access() {}

    /** Refuses what no NIC accepts, before it is tried. */
    static void check(int access) {
        if ((access & ~KNOWN) != 0) {
            throw new IllegalArgumentException(
                    "access 0x" + Integer.toHexString(access) + " has bits that Access lacks");
        }
        if ((access & (REMOTE_WRITE | REMOTE_ATOMIC)) != 0 && (access & LOCAL_WRITE) == 0) {
            throw new IllegalArgumentException(
                    "REMOTE_WRITE and REMOTE_ATOMIC need LOCAL_WRITE too");
        }
    }
}
