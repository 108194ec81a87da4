package dev.verbena.verbs.transport;

import dev.verbena.memory.OffHeapMemories;
import dev.verbena.memory.OffHeapMemory;
import dev.verbena.verbs.Access;
import dev.verbena.verbs.MemoryRegion;
import java.util.ArrayList;
import java.util.List;
import org.agrona.CloseHelper;

/**
 * Memory of this process for what the NIC sends and receives: made chunk by chunk, given back
 * together. No peer reaches it.
 */
final class NicMemory implements AutoCloseable {
    private final VerbsResources resources;
    private final List<OffHeapMemory> memories = new ArrayList<>();
    private final List<MemoryRegion> chunks = new ArrayList<>();

    NicMemory(VerbsResources resources) {
        this.resources = resources;
    }

    /** One more chunk, or nothing and the reason why. */
    MemoryRegion add(long length) {
        OffHeapMemory memory = OffHeapMemories.allocate(length);
        try {
            MemoryRegion chunk = resources.domain.register(memory, Access.LOCAL_WRITE);
            memories.add(memory);
            chunks.add(chunk);
            return chunk;
        } catch (RuntimeException e) {
            memory.close();
            throw e;
        }
    }

    int count() {
        return chunks.size();
    }

    MemoryRegion get(int chunk) {
        return chunks.get(chunk);
    }

    @Override
    public void close() {
        List<AutoCloseable> open = new ArrayList<>(chunks);
        open.addAll(memories);
        chunks.clear();
        memories.clear();
        CloseHelper.closeAll(open);
    }
}
