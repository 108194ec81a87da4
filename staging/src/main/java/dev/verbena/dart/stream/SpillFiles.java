package dev.verbena.dart.stream;

import dev.verbena.agent.DurableStore;
import dev.verbena.dart.DartException;
import dev.verbena.dart.DartException.Code;
import dev.verbena.dart.wire.FrameFlyweight;
import dev.verbena.staging.Counters;
import dev.verbena.staging.admission.Account;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * The directory into which a server spills: files {@code spill-RUN-SERVER-FRAME-COUNT.frames},
 * FRAME being the number of the first frame in it and COUNT making names unique, and a lock per
 * stream, so that several servers can share a directory and none takes what another still writes.
 * Owned by t3.
 */
public final class SpillFiles implements AutoCloseable {
    static final String PREFIX = "spill-";
    static final String SUFFIX = ".frames";

    /** At the end of names of files that no server takes any more. */
    static final String DAMAGED_SUFFIX = ".damaged";

    /** A frame that nobody can read any more. */
    static final int DAMAGED = -1;

    /** Reading failed, as with too many open files: it may be possible later. */
    static final int LATER = -2;

    private static final String LOCK_SUFFIX = ".lock";

    private final StreamOwner shared;
    private final DurableStore store;
    private final Account disk;
    private final List<AutoCloseable> locks = new ArrayList<>();
    private final List<String> lockNames = new ArrayList<>();
    private final List<SpillFile> files = new ArrayList<>();
    private final FrameFlyweight frame = new FrameFlyweight();
    private boolean isOwnLocked;
    private int count;

    SpillFiles(StreamOwner shared) {
        this.shared = shared;
        this.disk = new Account(shared.settings.spillLimit());
        this.store = shared.settings.environment().store(shared.settings.spillDirectory());
        store.onReady(() -> shared.wakeT3());
        store.onReady(() -> shared.wakeT1());
    }

    DurableStore store() {
        return store;
    }

    static String stream(UUID run, int serverId) {
        return PREFIX + run + "-" + serverId;
    }

    /** Number of the first frame in a file of this name; the highest of all if it says none. */
    static long firstFrame(String name) {
        int end = name.lastIndexOf('-');
        int begin = name.lastIndexOf('-', end - 1) + 1;
        try {
            return Long.parseLong(name, begin, Math.max(begin, end), 10);
        } catch (NumberFormatException e) {
            return Long.MAX_VALUE;
        }
    }

    boolean hasRoom(long bytes) {
        return bytes <= disk.free();
    }

    /** Longest file: several fit into the limit, or nothing would be deleted before the end. */
    long lengthMax() {
        return Math.min(64L << 20, disk.capacity() / 4);
    }

    /** Takes the lock of a stream; false if another server has it. */
    boolean lock(String stream) {
        AutoCloseable lock = store.tryLock(stream + LOCK_SUFFIX, 0);
        if (lock == null) {
            return false;
        }
        locks.add(lock);
        lockNames.add(stream + LOCK_SUFFIX);
        return true;
    }

    /** The stream is over: its lock is of no use any more. */
    void unlock(String stream) {
        int at = lockNames.indexOf(stream + LOCK_SUFFIX);
        if (at >= 0) {
            store.delete(lockNames.remove(at));
            release(locks.remove(at));
        }
    }

    private void release(AutoCloseable lock) {
        try {
            lock.close();
        } catch (Exception e) {
            report("cannot release a lock: %s", e.getMessage());
        }
    }

    /**
     * Takes the lock of this server's own stream, without which another server would take its files
     * for those of a dead one.
     *
     * @return empty, or why nothing may be written now
     */
    String lockOwn() {
        if (isOwnLocked) {
            return "";
        }
        String stream = stream(shared.run(), shared.serverId());
        try {
            isOwnLocked = lock(stream);
            return isOwnLocked ? "" : "somebody has the lock " + stream + LOCK_SUFFIX;
        } catch (UncheckedIOException e) {
            return e.getMessage();
        }
    }

    /** Begins a file of this server's own stream, the first frame having this number. */
    SpillFile begin(long firstFrame) {
        String stream = stream(shared.run(), shared.serverId());
        SpillFile file =
                new SpillFile(
                        String.format("%s-%019d-%06d%s", stream, firstFrame, ++count, SUFFIX));
        file.beginWriting(store.append(file.name, 0));
        add(file);
        return file;
    }

    /** Counts a file that is there. */
    void add(SpillFile file) {
        files.add(file);
        grew(file.length);
    }

    void grew(long bytes) {
        disk.charge(bytes);
        show();
    }

    private void show() {
        shared.spillBytes.lazySet(disk.reserved());
        shared.spillFiles.lazySet(files.size());
    }

    /** Nothing more is appended to it. */
    void endWriting(SpillFile file) {
        file.endWriting();
        if (file.live == 0) {
            delete(file);
        }
    }

    /** The receiver has a part, or the copy of it in this file is of no use. */
    void released(SpillFile file) {
        file.partReleased();
        if (file.live == 0 && file.writer == null) {
            delete(file);
        }
    }

    void delete(SpillFile file) {
        if (!files.remove(file)) {
            return;
        }
        disk.release(file.length);
        file.endWriting();
        file.closeReader();
        store.delete(file.name);
        show();
    }

    /** Gives a file another name, under which no server takes it for its own. */
    DurableStore.Completion keepDamaged(SpillFile file) {
        if (files.remove(file)) {
            disk.release(file.length);
            show();
        }
        file.closeReader();
        return store.rename(file.name, file.name + DAMAGED_SUFFIX);
    }

    /**
     * Reads a frame of a part, header first.
     *
     * @param isPatient a failure of the device is no verdict yet
     * @return length of its payload; {@link #DAMAGED} if it cannot be read, which is reported;
     *     {@link #LATER} if it may be read later
     */
    int read(
            ServerBuffer part,
            int number,
            int payloadLength,
            UnsafeBuffer scratch,
            boolean isPatient) {
        SpillFile file = part.spillFile;
        long at =
                part.spillOffset
                        + (long) number
                                * (FrameFlyweight.LENGTH + shared.settings.framePayloadMax());
        int length = FrameFlyweight.LENGTH + payloadLength;
        String why = "it is shorter than it was";
        try {
            DurableStore.ReadableFile reader = file.openReader(store);
            if (reader != null && reader.read(at, scratch, 0, length) == length) {
                frame.wrap(scratch, 0);
                boolean isWhatItWas =
                        frame.isIntact(scratch, FrameFlyweight.LENGTH)
                                && frame.type() == FrameFlyweight.DATA
                                && frame.sequence() == part.firstFrame + number
                                && frame.payloadLength() == payloadLength;
                if (isWhatItWas) {
                    return payloadLength;
                }
                why = "its checksum is wrong";
            }
        } catch (DartException | UncheckedIOException e) {
            why = e.getMessage();
            file.closeReader();
            if (isPatient) {
                return LATER;
            }
        }
        Counters.add(shared.spillFailures, 1);
        report(
                "frame %s in %s cannot be read (%s): %s",
                part.firstFrame + number,
                file.name,
                why,
                part.isNotice()
                        ? "the receiver does not hear that a server took or lost client "
                                + part.clientId
                        : part + " is lost");
        return DAMAGED;
    }

    void report(String what, Object... values) {
        String directory = shared.settings.spillDirectory();
        shared.report(
                Code.TRANSFER_FAILED.because(
                        "spill directory %s: %s", directory, what.formatted(values)));
    }

    /** Keeps what the receiver has not acknowledged, and says so. */
    @Override
    public void close() {
        for (SpillFile file : new ArrayList<>(files)) {
            // One that was found may not have been looked through yet.
            if (file.live == 0 && file.writer != null) {
                delete(file);
            } else {
                file.closeReader();
            }
        }
        if (!files.isEmpty()) {
            report(
                    "kept %s messages, %s bytes in %s files, that the receiver has not confirmed; "
                            + "a server that is started with this directory delivers them",
                    shared.spillMessages.get(), disk.reserved(), files.size());
        }
        for (String name : lockNames) {
            store.delete(name);
        }
        store.close();
        for (AutoCloseable lock : locks) {
            release(lock);
        }
    }
}
