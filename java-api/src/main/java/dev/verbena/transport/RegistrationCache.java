package dev.verbena.transport;

import dev.verbena.memory.OffHeapMemory;
import dev.verbena.memory.RegisteredRegion;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;

/**
 * Keeps registrations of memory that is used again and again, because registering costs system
 * calls and, on NICs, page pinning. Owned by the transport's thread.
 *
 * <p>An entry is found by the memory object and the rights. A caller that gets a region borrows it
 * and gives it back; regions that are not lent stay registered, up to a number, the least recently
 * used going first. A cached registration holds its memory ({@link OffHeapMemory#acquire}), so
 * memory can only be closed after {@link #invalidate}: a stale registration cannot exist.
 */
public final class RegistrationCache implements AutoCloseable {
    private static final class Entry {
        final OffHeapMemory memory;
        final int rights;
        final RegisteredRegion region;
        int lentCount;

        Entry(OffHeapMemory memory, int rights, RegisteredRegion region) {
            this.memory = memory;
            this.rights = rights;
            this.region = region;
        }
    }

    private final Transport transport;
    private final int idleMax;
    private final Map<OffHeapMemory, List<Entry>> byMemory = new IdentityHashMap<>();
    private final Map<RegisteredRegion, Entry> byRegion = new IdentityHashMap<>();
    private final ArrayDeque<Entry> idle = new ArrayDeque<>();
    private long hitCount;
    private long missCount;

    /**
     * An empty cache.
     *
     * @param idleMax registrations to keep that nobody uses, from 0
     */
    public RegistrationCache(Transport transport, int idleMax) {
        if (idleMax < 0) {
            throw new IllegalArgumentException("idleMax " + idleMax + " is below 0");
        }
        this.transport = transport;
        this.idleMax = idleMax;
    }

    /**
     * Lends a registration of a memory with at least these rights; registers if there is none.
     *
     * @throws RuntimeException what {@link Transport#register} throws
     */
    public RegisteredRegion borrow(OffHeapMemory memory, int rights) {
        List<Entry> entries = byMemory.get(memory);
        if (entries != null) {
            for (Entry entry : entries) {
                if ((entry.rights & rights) == rights) {
                    hitCount++;
                    if (entry.lentCount++ == 0) {
                        idle.remove(entry);
                    }
                    return entry.region;
                }
            }
        }
        missCount++;
        Entry entry = new Entry(memory, rights, transport.register(memory, rights));
        entry.lentCount = 1;
        byMemory.computeIfAbsent(memory, key -> new ArrayList<>(1)).add(entry);
        byRegion.put(entry.region, entry);
        return entry.region;
    }

    /**
     * Gives a lent registration back; it may be closed now if too many are idle.
     *
     * @throws IllegalArgumentException if it was not lent by this cache
     */
    public void giveBack(RegisteredRegion region) {
        Entry entry = byRegion.get(region);
        if (entry == null || entry.lentCount == 0) {
            throw new IllegalArgumentException("region " + region.id() + " is not lent");
        }
        if (--entry.lentCount == 0) {
            idle.addLast(entry);
            while (idle.size() > idleMax) {
                drop(idle.peekFirst());
            }
        }
    }

    /**
     * Closes all registrations of a memory; to be called before the memory is closed.
     *
     * @throws IllegalStateException if one is lent; nothing is closed then
     */
    public void invalidate(OffHeapMemory memory) {
        List<Entry> entries = byMemory.get(memory);
        if (entries == null) {
            return;
        }
        for (Entry entry : entries) {
            if (entry.lentCount > 0) {
                throw new IllegalStateException(
                        "region " + entry.region.id() + " is lent " + entry.lentCount + " times");
            }
        }
        for (Entry entry : List.copyOf(entries)) {
            drop(entry);
        }
    }

    /** Borrows that found a registration. */
    public long hitCount() {
        return hitCount;
    }

    /** Borrows that had to register. */
    public long missCount() {
        return missCount;
    }

    /** Registrations held, lent or idle. */
    public int registrationCount() {
        return byRegion.size();
    }

    /**
     * Closes all registrations.
     *
     * @throws IllegalStateException if one is lent; nothing is closed then
     */
    @Override
    public void close() {
        for (Entry entry : byRegion.values()) {
            if (entry.lentCount > 0) {
                throw new IllegalStateException(
                        "region " + entry.region.id() + " is lent " + entry.lentCount + " times");
            }
        }
        for (Iterator<Entry> i = List.copyOf(byRegion.values()).iterator(); i.hasNext(); ) {
            drop(i.next());
        }
    }

    /** The region first: if closing it throws, the entry stays. */
    private void drop(Entry entry) {
        entry.region.close();
        idle.remove(entry);
        byRegion.remove(entry.region);
        List<Entry> entries = byMemory.get(entry.memory);
        entries.remove(entry);
        if (entries.isEmpty()) {
            byMemory.remove(entry.memory);
        }
    }
}
