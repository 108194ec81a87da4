package dev.verbena.transport.core;

import dev.verbena.memory.OffHeapMemory;
import dev.verbena.memory.RemoteDescriptor;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.agrona.collections.Long2ObjectHashMap;

/**
 * The open regions of one transport: makes them, takes back what was made for one that cannot be
 * exposed, and closes them once nothing is under way. A provider exposes memory to peers and
 * revokes that. Owned by the transport's thread, but for {@link #names}.
 *
 * @param <R> the provider's region
 */
public abstract class RegionTable<R extends TransportRegion> {
    private final OwnerGuard guard;
    private final Long2ObjectHashMap<R> byId = new Long2ObjectHashMap<>();
    private final Set<R> open = ConcurrentHashMap.newKeySet();
    private long made;

    /** Of the transport with this guard. */
    protected RegionTable(OwnerGuard guard) {
        this.guard = guard;
    }

    /**
     * Makes a region that nobody can reach.
     *
     * @param memory handed in; null: memory of the provider's own is to be allocated
     */
    protected abstract R make(long id, OffHeapMemory memory, long length, int rights);

    /** Lets peers reach it, and operations start there. If it throws, nothing is exposed. */
    protected abstract void expose(R region);

    /** Nobody reaches it any more, and accesses that peers began have ended. May throw. */
    protected abstract void revoke(R region);

    /** Whether an operation posted from it has a completion that was not polled. */
    protected abstract boolean isOutstanding(R region);

    /** Frees memory of the provider's own. */
    protected abstract void free(R region, long address);

    /** Memory that was handed in is its owner's again, at the latest when the transport closes. */
    protected void release(R region) {
        region.releaseMemory();
    }

    /** As {@code allocate}. */
    public final R allocate(long length, int rights) {
        requireRights(rights);
        requireLength(length);
        return publish(make(made + 1, null, length, rights));
    }

    /** As {@code register}. */
    public final R register(OffHeapMemory memory, int rights) {
        requireRights(rights);
        R region = make(made + 1, memory, memory.length(), rights);
        try {
            memory.acquire(region.user());
        } catch (RuntimeException e) {
            region.retire();
            throw e;
        }
        return publish(region);
    }

    private R publish(R region) {
        made++;
        try {
            expose(region);
        } catch (RuntimeException e) {
            giveBack(region);
            throw e;
        }
        byId.put(region.id(), region);
        open.add(region);
        return region;
    }

    private void giveBack(R region) {
        long address = region.retire();
        if (region.isToolkitMemory()) {
            free(region, address);
        } else {
            release(region);
        }
    }

    /**
     * Closes a region; one that is closed already is left alone.
     *
     * @throws IllegalStateException if operations are outstanding or a view is in use, or after the
     *     transport's close
     */
    public final void close(R region) {
        close(region, false);
    }

    /**
     * As {@link #close(TransportRegion)}, but memory of the provider's own stays.
     *
     * @return frees the memory, which the transport's end does otherwise
     */
    public final Runnable closeKeepingMemory(R region) {
        long address = close(region, region.isToolkitMemory());
        return () -> {
            if (address != 0) {
                free(region, address);
            }
        };
    }

    /** Answers the address of memory that is kept. */
    private long close(R region, boolean isMemoryKept) {
        if (!guard.enter()) {
            throw new IllegalStateException("closed: the transport of " + region);
        }
        try {
            if (region.isClosed()) {
                return 0;
            }
            if (isOutstanding(region)) {
                throw new IllegalStateException(
                        region + " has operations whose completions were not polled");
            }
            region.closeViews();
            revoke(region);
            byId.remove(region.id());
            open.remove(region);
            if (isMemoryKept) {
                return region.retire();
            }
            giveBack(region);
            return 0;
        } finally {
            guard.exit();
        }
    }

    /** The open region with this id, or null. */
    public final R find(long id) {
        return byId.get(id);
    }

    /** The open regions in words, or null if there is none. Any thread. */
    public final String names() {
        return open.isEmpty() ? null : open.toString();
    }

    /**
     * Refuses rights that there are not.
     *
     * @throws IllegalArgumentException if so
     */
    public static void requireRights(int rights) {
        if ((rights & ~RemoteDescriptor.REMOTE_ALL) != 0) {
            throw new IllegalArgumentException(
                    "rights " + rights + " are outside 0 to " + RemoteDescriptor.REMOTE_ALL);
        }
    }

    /**
     * Refuses lengths that no region has.
     *
     * @throws IllegalArgumentException if so
     */
    public static void requireLength(long length) {
        if (length < 1) {
            throw new IllegalArgumentException("length " + length + " is below 1");
        }
    }
}
