package dev.verbena.nsim.world;

import dev.verbena.memory.OffHeapMemories;
import dev.verbena.memory.OffHeapMemory;
import java.util.ArrayList;
import java.util.List;
import org.agrona.concurrent.status.CountersManager;

/** Memory that all processes of a world share. Belongs to the world's thread. */
final class WorldMemory implements AutoCloseable {
    private static final int COUNTERS = 128;

    private final List<OffHeapMemory> all = new ArrayList<>();
    private final List<OffHeapMemory> blanks = new ArrayList<>();
    private CountersManager counters;

    CountersManager counters() {
        if (counters == null) {
            int metadata = COUNTERS * CountersManager.METADATA_LENGTH;
            int values = COUNTERS * CountersManager.COUNTER_LENGTH;
            OffHeapMemory memory = OffHeapMemories.allocate(metadata + values);
            all.add(memory);
            counters =
                    new CountersManager(
                            memory.buffer(0, metadata), memory.buffer(metadata, values));
        }
        return counters;
    }

    /** Memory of at least this length whose bytes are never read. */
    OffHeapMemory blank(long length) {
        for (OffHeapMemory one : blanks) {
            if (one.length() >= length) {
                return one;
            }
        }
        OffHeapMemory made = OffHeapMemories.allocate(length);
        all.add(made);
        blanks.add(made);
        return made;
    }

    @Override
    public void close() {
        all.forEach(OffHeapMemory::close);
    }
}
