package dev.verbena.verbs;

import dev.verbena.rdma.calls.VerbsLayout;

/**
 * What a prepared request binds, of those that bind a memory window: the window, the region, and
 * what the window was bound to until then. One of each request, made with it, so that binding
 * allocates nothing.
 */
final class WindowBinding {
    private final SendRequests owner;
    private final int offset;

    /** One place, as the log of work wants it. */
    private final MemoryRegion[] region = new MemoryRegion[1];

    private MemoryWindow window;
    private MemoryRegion before;

    WindowBinding(SendRequests owner, int offset) {
        this.owner = owner;
        this.offset = offset;
    }

    /** Refuses what {@link SendRequestFlyweight#bindWindow} must not take. */
    void check(
            MemoryWindow window,
            int newKey,
            MemoryRegion region,
            long from,
            long bytes,
            int access) {
        window.checkOf(owner.domain);
        window.checkKey(newKey);
        window.checkBinding(region, from, bytes, access);
        if (bytes == 0) {
            throw new IndexOutOfBoundsException("a window of type 2 has at least 1 byte");
        }
    }

    void set(MemoryWindow window, MemoryRegion region) {
        this.window = window;
        this.region[0] = region;
    }

    /** Writes the addresses of what is bound; 0, or why it cannot be posted now. */
    int prepare() {
        if (!window.isBoundHere()) {
            return Post.WINDOW_ELSEWHERE;
        }
        long regionAddress = region[0].addressOrZero();
        long windowAddress = window.addressOrZero();
        if (regionAddress == 0 || windowAddress == 0) {
            return Post.REGION_CLOSED;
        }
        int info = offset + VerbsLayout.SEND_WR_BIND_MW_BIND_INFO;
        owner.buffer.putLong(offset + VerbsLayout.SEND_WR_BIND_MW_MW, windowAddress);
        owner.buffer.putLong(info + VerbsLayout.MW_BIND_INFO_MR, regionAddress);
        return 0;
    }

    boolean isUsable() {
        return window.isUsable() && region[0].isUsable();
    }

    /** Just before it is posted; {@link #taken} or {@link #refused} follows. */
    void note(WorkLog log, long id) {
        before = window.bound();
        window.bound(region[0]);
        log.noteTargets();
        log.note(id, region, 1, window);
    }

    void taken() {
        before = null;
        window.keyBound(owner.buffer.getInt(offset + VerbsLayout.SEND_WR_BIND_MW_RKEY));
    }

    void refused() {
        window.bound(before);
        before = null;
    }
}
