package dev.verbena.verbs.transport;

import dev.verbena.memory.OffHeapMemories;
import dev.verbena.memory.OffHeapMemory;
import dev.verbena.memory.RemoteDescriptor;
import dev.verbena.transport.Status;
import dev.verbena.transport.TransportException;
import dev.verbena.transport.core.Ranges;
import dev.verbena.transport.core.RegionTable;
import dev.verbena.verbs.Access;
import dev.verbena.verbs.MemoryRegion;
import dev.verbena.verbs.VerbsException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.agrona.CloseHelper;
import org.agrona.collections.Int2ObjectHashMap;

/**
 * The registrations of one transport. Owned by its thread.
 *
 * <p>A NIC may give a key again that it gave before. So every registration lies at addresses that
 * this process has never used before: a request with an old descriptor and a new region's key
 * misses that region.
 */
final class VerbsRegions {
    private static final int EFAULT = 14;
    private static final AtomicLong IDS = new AtomicLong();
    private static final long HUGE_PAGE = OffHeapMemories.HUGE_PAGE_LENGTH;

    /** Next address that was never used. Positive for longer than any process runs. */
    private static final AtomicLong NEXT_BASE = new AtomicLong(1L << 40);

    private final VerbsResources resources;
    private final Int2ObjectHashMap<VerbsRegion> byKey = new Int2ObjectHashMap<>();

    private VerbsTransport transport;

    VerbsRegions(VerbsResources resources) {
        this.resources = resources;
    }

    /** Whose regions they are. */
    void of(VerbsTransport transport) {
        this.transport = transport;
    }

    private void checkThere() {
        if (resources.isLost()) {
            throw new TransportException("no memory can be registered: " + resources.lost());
        }
    }

    VerbsRegion allocate(long length, int rights) {
        RegionTable.requireRights(rights);
        checkThere();
        RegionTable.requireLength(length);
        OffHeapMemory memory;
        try {
            memory = OffHeapMemories.allocate(length);
        } catch (OutOfMemoryError e) {
            throw new TransportException(e.getMessage(), 0, e);
        }
        try {
            return register(memory, true, rights);
        } catch (RuntimeException | Error e) {
            memory.close();
            throw e;
        }
    }

    VerbsRegion register(OffHeapMemory memory, int rights) {
        RegionTable.requireRights(rights);
        checkThere();
        return register(memory, false, rights);
    }

    private VerbsRegion register(OffHeapMemory memory, boolean isOwnMemory, int rights) {
        MemoryRegion registered;
        boolean isReadOnly = false;
        try {
            try {
                registered = onCard(memory, access(rights));
            } catch (VerbsException e) {
                // A NIC writes into nothing that this process itself may only read.
                if (e.errno() != EFAULT || (rights & ~RemoteDescriptor.REMOTE_READ) != 0) {
                    throw e;
                }
                registered = onCard(memory, access(rights) & ~Access.LOCAL_WRITE);
                isReadOnly = true;
            }
        } catch (VerbsException e) {
            String hint =
                    e.errno() == EFAULT
                            ? "; where this process may only read the memory, register it without"
                                    + " rights to write, and, before Linux 6.2, map it privately"
                            : "";
            throw new TransportException(
                    "register " + memory.length() + " bytes: " + e.getMessage() + hint, 0, e);
        }
        VerbsRegion region =
                new VerbsRegion(
                        transport,
                        IDS.incrementAndGet(),
                        memory,
                        isOwnMemory,
                        registered,
                        isReadOnly,
                        rights);
        byKey.put(region.key(), region);
        return region;
    }

    private MemoryRegion onCard(OffHeapMemory memory, int access) {
        long base = nextBase(memory.address(), memory.length());
        return resources.domain.register(memory, 0, memory.length(), base, access);
    }

    /** Lies as the memory does in a huge page, so that the NIC can use large pages, too. */
    static long nextBase(long address, long length) {
        long room = (length + 2 * HUGE_PAGE) / HUGE_PAGE * HUGE_PAGE + HUGE_PAGE;
        return NEXT_BASE.getAndAdd(room) + (address & HUGE_PAGE - 1);
    }

    private static int access(int rights) {
        return Access.LOCAL_WRITE
                | ((rights & RemoteDescriptor.REMOTE_READ) != 0 ? Access.REMOTE_READ : 0)
                | ((rights & RemoteDescriptor.REMOTE_WRITE) != 0 ? Access.REMOTE_WRITE : 0)
                | ((rights & RemoteDescriptor.REMOTE_ATOMIC) != 0 ? Access.REMOTE_ATOMIC : 0);
    }

    void close(VerbsRegion region) {
        if (region.isClosed()) {
            return;
        }
        if (region.users() > 0) {
            region.closeRefused();
            throw new IllegalStateException(
                    ("%s cannot be closed: %s operations posted from it are outstanding; "
                                    + "poll their completions, or close the transport, which ends them and "
                                    + "closes the region, too")
                            .formatted(region, region.users()));
        }
        int key = region.key();
        region.revoke();
        byKey.remove(key);
    }

    /** The region of a key, if the range lies in it; null otherwise. */
    VerbsRegion find(int key, long address, long length) {
        VerbsRegion region = byKey.get(key);
        if (region == null || !isInside(region, address, length)) {
            return null;
        }
        return region;
    }

    private static boolean isInside(VerbsRegion region, long address, long length) {
        return Ranges.isInside(address - region.base(), length, region.length());
    }

    /**
     * Why the NIC refused a peer's request, one of {@link Status}; OK if nothing is wrong with it.
     */
    int whyRefused(int key, long address, long length, int rights) {
        VerbsRegion region = byKey.get(key);
        if (region == null || !isNear(region, address)) {
            return Status.STALE_KEY;
        }
        if (!isInside(region, address, length)) {
            return Status.BOUNDS;
        }
        return (rights & ~region.rights()) != 0 ? Status.ACCESS : Status.OK;
    }

    /** Addresses belong to one registration only, the unused ones around it, too. */
    private static boolean isNear(VerbsRegion region, long address) {
        return address >= region.base() - HUGE_PAGE
                && address <= region.base() + region.length() + HUGE_PAGE;
    }

    /** The open regions that nobody wanted to close yet, in words, or null. */
    String names() {
        List<VerbsRegion> wanted = new ArrayList<>(byKey.values());
        wanted.removeIf(VerbsRegion::isCloseRefused);
        return wanted.isEmpty() ? null : wanted.toString();
    }

    /**
     * Closes those whose owner was refused it, because a peer that may never answer had them in
     * use. By the thread that closes, when the NIC has no request of ours any more.
     */
    void closeRefused() {
        List<AutoCloseable> steps = new ArrayList<>();
        for (VerbsRegion region : byKey.values()) {
            steps.add(region::revoke);
        }
        byKey.clear();
        CloseHelper.closeAll(steps);
    }
}
