package dev.verbena.shm;

import dev.verbena.memory.AbstractMemory;
import dev.verbena.memory.OffHeapMemory;
import dev.verbena.softnic.bindings.Layout;
import dev.verbena.softnic.bindings.softnic;
import java.nio.file.Path;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.agrona.UnsafeApi;

/**
 * Files that are toolkit memory of one transport while they are mapped, so that peers map them,
 * too. Mapped by the transport's thread, closed by any.
 */
final class ShmFiles {
    private static final int LENGTH_OF_PATH_MAX = 1000;

    private final long nic;
    private final NativeScratch scratch;
    private final Set<FileMemory> open = ConcurrentHashMap.newKeySet();

    ShmFiles(long nic, NativeScratch scratch) {
        this.nic = nic;
        this.scratch = scratch;
    }

    /** Null: it is in another file system than shared memory, mostly. */
    OffHeapMemory map(Path file, long length) {
        String path = file.toAbsolutePath().toString();
        if (length < 1 || path.length() > LENGTH_OF_PATH_MAX) {
            return null;
        }
        int result =
                softnic.snic_memory_map(
                        nic,
                        scratch.reset().string(path),
                        length,
                        scratch.result,
                        scratch.why(),
                        Layout.SNIC_WHY_MAX);
        if (result < 0) {
            return null;
        }
        FileMemory memory = new FileMemory(path, UnsafeApi.getLong(null, scratch.result), length);
        open.add(memory);
        return memory;
    }

    /** What is mapped, in words; null: nothing. Any thread. */
    String names() {
        return open.isEmpty() ? null : open.toString();
    }

    private final class FileMemory extends AbstractMemory {
        FileMemory(String path, long address, long length) {
            super("shared file " + path, address, length);
        }

        @Override
        protected void free(long address, long length) {
            softnic.snic_memory_free(nic, address);
            open.remove(this);
        }
    }
}
