package dev.verbena.auto;

import dev.verbena.memory.OffHeapMemory;
import dev.verbena.memory.RegisteredRegion;
import dev.verbena.transport.core.OwnerGuard;
import dev.verbena.transport.core.RegionTable;
import dev.verbena.transport.core.SharedKey;
import dev.verbena.transport.core.TransportPart;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import org.agrona.collections.Long2ObjectHashMap;

/**
 * The regions of one transport. The first part allocates or registers at once, the others when the
 * region is described or used over them.
 */
final class AutoRegions extends RegionTable<AutoRegion> {
    private final TransportPart[] parts;

    /** By part and the part's own id: what a notification names. */
    private final List<Long2ObjectHashMap<AutoRegion>> byPart;

    /** A closed region whose memory another part's peers may still reach. */
    private record Kept(AutoRegion region, Runnable free) {}

    private final List<Kept> kept = new ArrayList<>();
    private final SecureRandom random = new SecureRandom();

    AutoRegions(OwnerGuard guard, TransportPart[] parts) {
        super(guard);
        this.parts = parts;
        this.byPart =
                java.util.stream.Stream.of(parts)
                        .map(part -> new Long2ObjectHashMap<AutoRegion>())
                        .toList();
    }

    @Override
    protected AutoRegion make(long id, OffHeapMemory memory, long length, int rights) {
        freeKept();
        RegisteredRegion[] made = new RegisteredRegion[parts.length];
        made[0] =
                memory == null
                        ? parts[0].allocate(length, rights)
                        : parts[0].register(memory, rights);
        return new AutoRegion(this, id, made[0].address(), length, rights, memory, made);
    }

    @Override
    protected void expose(AutoRegion region) {
        byPart.get(0).put(region.at(0).id(), region);
    }

    /** The part's region, which is registered now if need be. */
    RegisteredRegion at(int part, AutoRegion region) {
        RegisteredRegion at = region.at(part);
        return at != null ? at : register(part, region);
    }

    private RegisteredRegion register(int part, AutoRegion region) {
        SharedKey key = region.rights() == 0 ? unnamed() : keyOf(region);
        if (region.at(part) == null) {
            join(part, region, key);
        }
        return region.at(part);
    }

    private void join(int part, AutoRegion region, SharedKey key) {
        RegisteredRegion made = parts[part].register(region.registered(), region.rights(), key);
        region.set(part, made);
        byPart.get(part).put(made.id(), region);
    }

    /** Nobody reaches such a region, but a part may want to tell it from others. */
    private SharedKey unnamed() {
        SharedKey key = new SharedKey();
        key.segment(0, 0, random.nextLong());
        return key;
    }

    /** By what peers of every part find the region: with this it is registered with all. */
    SharedKey keyOf(AutoRegion region) {
        if (region.key() == null) {
            SharedKey key = unnamed();
            for (int part = 0; part < parts.length; part++) {
                if (region.at(part) == null) {
                    join(part, region, key);
                }
                parts[part].addTo(key, region.at(part));
            }
            region.key(key);
        }
        return region.key();
    }

    /** The region that a part's notification names, or null. */
    AutoRegion find(int part, long id) {
        return byPart.get(part).get(id);
    }

    @Override
    protected boolean isOutstanding(AutoRegion region) {
        for (int part = 0; part < parts.length; part++) {
            if (region.at(part) != null && parts[part].isOutstanding(region.at(part))) {
                return true;
            }
        }
        return false;
    }

    /** The first part last: its memory is what the others have registered. */
    @Override
    protected void revoke(AutoRegion region) {
        freeKept();
        for (int part = parts.length - 1; part > 0; part--) {
            if (region.at(part) != null) {
                region.at(part).close();
                leave(part, region);
            }
        }
        RegisteredRegion first = region.at(0);
        if (isReachable(region) && region.isToolkitMemory()) {
            kept.add(new Kept(region, parts[0].closeKeepingMemory(first)));
        } else {
            first.close();
        }
        leave(0, region);
    }

    private void leave(int part, AutoRegion region) {
        byPart.get(part).remove(region.at(part).id());
        region.leave(part);
    }

    /** Whether something may still arrive by a part that the region has left. */
    private boolean isReachable(AutoRegion region) {
        for (AutoRegion.Left left : region.left()) {
            if (parts[left.part()].isStillReachable(left.region())) {
                return true;
            }
        }
        return false;
    }

    private void freeKept() {
        for (int i = kept.size() - 1; i >= 0; i--) {
            if (!isReachable(kept.get(i).region)) {
                kept.remove(i).free.run();
            }
        }
    }

    /** With the first part's region, in {@link #revoke}. */
    @Override
    protected void free(AutoRegion region, long address) {
        if (region.at(0) != null) {
            region.at(0).close();
        }
    }
}
