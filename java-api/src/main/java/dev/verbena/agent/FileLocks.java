package dev.verbena.agent;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/**
 * Advisory locks on single bytes of files, between processes and within this one. The kernel ends
 * them with the process, however it dies. A process has one channel for each file on which it holds
 * a lock: closing any other one would end all its locks on that file. Thread-safe.
 */
final class FileLocks {
    /** A file on which this process holds locks. */
    private static final class Locked {
        final FileChannel channel;
        final Set<Long> positions = new HashSet<>();

        Locked(FileChannel channel) {
            this.channel = channel;
        }
    }

    // Guarded by the class.
    private static final Map<Path, Locked> FILES = new HashMap<>();

    private FileLocks() {}

    /** Takes the lock, or null if somebody has it. */
    static synchronized AutoCloseable tryLock(Path path, long position) {
        Locked file = FILES.get(path);
        try {
            if (file == null) {
                FileChannel channel =
                        FileDurableStore.openOwn(
                                path,
                                StandardOpenOption.CREATE,
                                StandardOpenOption.READ,
                                StandardOpenOption.WRITE);
                file = new Locked(channel);
            }
            FileLock lock =
                    file.positions.contains(position)
                            ? null
                            : file.channel.tryLock(position, 1, false);
            if (lock == null) {
                closeIfUnused(path, file);
                return null;
            }
            FILES.put(path, file);
            file.positions.add(position);
            return () -> release(path, lock);
        } catch (IOException e) {
            if (file != null) {
                closeIfUnused(path, file);
            }
            throw new UncheckedIOException("cannot lock " + path + ": " + e, e);
        }
    }

    private static synchronized void release(Path path, FileLock lock) throws IOException {
        Locked file = FILES.get(path);
        if (file != null && lock.isValid()) {
            lock.release();
            file.positions.remove(lock.position());
            closeIfUnused(path, file);
        }
    }

    private static void closeIfUnused(Path path, Locked file) {
        if (!file.positions.isEmpty()) {
            return;
        }
        FILES.remove(path);
        try {
            file.channel.close();
        } catch (IOException e) {
            throw new UncheckedIOException("cannot close " + path + ": " + e, e);
        }
    }

    /** Whether somebody holds a lock on one of these bytes, this process included. */
    static synchronized boolean isLocked(Path path, long from, long to) {
        Locked file = FILES.get(path);
        if (file != null) {
            for (long position : file.positions) {
                if (position >= from && position < to) {
                    return true;
                }
            }
            return isLockedByOthers(path, file.channel, from, to);
        }
        try (FileChannel channel = FileDurableStore.openOwn(path, StandardOpenOption.READ)) {
            return isLockedByOthers(path, channel, from, to);
        } catch (NoSuchFileException e) {
            return false;
        } catch (IOException e) {
            throw new UncheckedIOException("cannot look at " + path + ": " + e, e);
        }
    }

    private static boolean isLockedByOthers(Path path, FileChannel channel, long from, long to) {
        try (FileLock probe = channel.tryLock(from, to - from, true)) {
            return probe == null;
        } catch (IOException e) {
            throw new UncheckedIOException("cannot look at the locks of " + path + ": " + e, e);
        }
    }
}
