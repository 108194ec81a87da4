package dev.verbena.savime.server;

import dev.verbena.savime.store.StagedFile;
import dev.verbena.staging.admission.Account;
import java.util.ArrayDeque;
import java.util.Iterator;
import java.util.function.Consumer;

/**
 * Which dataset goes to memory (specification, section 5.2). Bytes are reserved before a file is
 * made, no more of them than the file system has beside what others have put there. Files whose
 * dataset is gone stay, within the reservation, for datasets of the same length, and go as soon as
 * another dataset needs the space.
 */
final class Admission {
    final Account memory;
    final Account disk;
    private final long poolMax;
    private final Consumer<StagedFile> remove;
    private final ArrayDeque<StagedFile> pool = new ArrayDeque<>();
    private long poolBytes;
    private long keptSoonBytes;
    private long room = Long.MAX_VALUE;

    /**
     * @param remove deletes a file whose bytes were given back, and charges them if that must wait
     */
    Admission(ServerSettings settings, Consumer<StagedFile> remove) {
        this.memory = new Account(settings.memoryMax());
        this.disk = new Account(settings.diskMax());
        this.poolMax = settings.poolMax();
        this.remove = remove;
    }

    /** What the file system of the memory directory has, and how much of it is taken. */
    void fileSystem(long total, long used) {
        // Files here take no more than is reserved for them: the rest is of others.
        room = total - Math.max(0, used - memory.reserved());
    }

    /** Bytes of memory that datasets can have. */
    long freeMemory() {
        return Math.max(0, unreserved() + poolBytes);
    }

    private long unreserved() {
        return Math.min(memory.free(), room - memory.reserved());
    }

    /** A file of this length from the pool, its bytes reserved already; null: none. */
    StagedFile reuse(long length) {
        for (Iterator<StagedFile> files = pool.iterator(); files.hasNext(); ) {
            StagedFile file = files.next();
            if (file.length() == length) {
                files.remove();
                poolBytes -= length;
                return file;
            }
        }
        return null;
    }

    /** Reserves memory, at the cost of files in the pool; false: there is none. */
    boolean reserveMemory(long length) {
        if (length > freeMemory()) {
            return false;
        }
        while (unreserved() < length || !memory.reserve(length)) {
            StagedFile oldest = pool.remove();
            poolBytes -= oldest.length();
            // Deleted by the same thread that makes the new file, and before.
            memory.release(oldest.length());
            remove.accept(oldest);
        }
        return true;
    }

    boolean reserveDisk(long length) {
        return disk.reserve(length);
    }

    /** Files that were found at the start, and deleted ones that have their space still. */
    void charge(StagedFile file) {
        accountOf(file).charge(file.length());
    }

    void release(boolean isMemory, long length) {
        (isMemory ? memory : disk).release(length);
    }

    private Account accountOf(StagedFile file) {
        return file.isInMemory() ? memory : disk;
    }

    /** Whether the file of a dataset that is gone is to be kept; then {@link #keep} follows. */
    boolean mayKeep(StagedFile file) {
        boolean has = file.isInMemory() && file.length() <= poolMax - poolBytes - keptSoonBytes;
        keptSoonBytes += has ? file.length() : 0;
        return has;
    }

    /** Whether a file of this length is to be made for the pool; then {@link #keep} follows. */
    boolean mayMake(long length) {
        boolean has =
                length <= poolMax - poolBytes - keptSoonBytes
                        && length <= unreserved()
                        && memory.reserve(length);
        keptSoonBytes += has ? length : 0;
        return has;
    }

    /** Such a file was not made. */
    void notMade(long length) {
        keptSoonBytes -= length;
        memory.release(length);
    }

    /** Keeps it; its bytes stay reserved. */
    void keep(StagedFile file) {
        keptSoonBytes -= file.length();
        pool.add(file);
        poolBytes += file.length();
    }

    /** Empties the pool. */
    void clear() {
        while (!pool.isEmpty()) {
            StagedFile file = pool.remove();
            poolBytes -= file.length();
            memory.release(file.length());
            remove.accept(file);
        }
    }
}
