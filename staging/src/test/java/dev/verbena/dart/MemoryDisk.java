package dev.verbena.dart;

import dev.verbena.agent.DurableStore;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeMap;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

/**
 * A directory in memory that forgets, at a power failure, what was not forced; a force takes a
 * while. Can be full. One thread.
 */
public final class MemoryDisk {
    private static final int LOOKS_UNTIL_FORCED = 3;

    /** A file: what was written, and how much of it would be there after a power failure. */
    private static final class Content {
        byte[] bytes = new byte[1024];
        int length;
        int forced = -1;
    }

    /** Of one byte of a file. */
    private record Lock(String name, long position) {}

    private final TreeMap<String, Content> files = new TreeMap<>();
    private final ArrayDeque<Rename> renames = new ArrayDeque<>();
    private final Set<Lock> locks = new HashSet<>();
    private int powerFailures;
    public long capacity = Long.MAX_VALUE;

    /** Nothing is forced, however long one looks. */
    public boolean isStuck;

    /** Most that an append takes at once of the receiver's state. */
    public int stateMax = Integer.MAX_VALUE;

    /** Nor files whose names contain this; empty: all are. */
    public String stuck = "";

    /** So many forces of files whose names contain {@link #failing} fail. */
    public int failures;

    public String failing = "";

    /** So many renames fail. */
    public int renameFailures;

    /** Deletions are done by {@link #deleteNow} only. */
    boolean isDeletingLate;

    private final List<String> toDelete = new ArrayList<>();

    /** Opening files whose names contain this throws; empty: none. */
    public String throwing = "";

    /** No lock can be made. */
    public boolean isLockless;

    /** Reading files whose names contain this throws; empty: none. */
    public String unreadable = "";

    /** The directory cannot be listed. */
    public boolean isUnlistable;

    /** Stores and readers that were opened and not closed. */
    public int openStores;

    public int openReaders;

    /** So often one must look until a rename is done. */
    public int renameLooks = LOOKS_UNTIL_FORCED;

    /** Bytes that were read. */
    public long bytesRead;

    /** Reads that fail before one succeeds. */
    public int readFailures;

    /** Whom a store of a real disk would wake. */
    public final List<Runnable> wakeups = new ArrayList<>();

    public DurableStore open() {
        return new Store();
    }

    public long used() {
        return files.values().stream().mapToLong(file -> file.length).sum();
    }

    public List<String> names(String suffix) {
        return files.keySet().stream().filter(name -> name.endsWith(suffix)).toList();
    }

    public void flip(String name, int at) {
        files.get(name).bytes[at] ^= 8;
    }

    /**
     * A file ends here; what it has from another place on becomes another file, if that has a name.
     */
    public void tear(String name, int length, int restFrom, String restName) {
        Content content = files.get(name);
        if (!restName.isEmpty()) {
            Content rest = new Content();
            rest.bytes = java.util.Arrays.copyOfRange(content.bytes, restFrom, content.length);
            rest.length = rest.bytes.length;
            rest.forced = rest.length;
            files.put(restName, rest);
        }
        content.length = length;
        content.forced = length;
    }

    /** A file that was there before. */
    public void put(String name, byte[] bytes) {
        Content content = new Content();
        content.bytes = bytes;
        content.length = bytes.length;
        content.forced = bytes.length;
        files.put(name, content);
    }

    void deleteNow() {
        toDelete.forEach(files::remove);
        toDelete.clear();
    }

    /** What the file holds; null: there is none. */
    public byte[] content(String name) {
        Content content = files.get(name);
        return content == null ? null : Arrays.copyOf(content.bytes, content.length);
    }

    /**
     * Who has stores is killed: these become useless, locks are free.
     *
     * @param isLast what was asked for was just done, and nobody has heard of it
     */
    public void kill(boolean isLast) {
        if (isLast) {
            performRenames(null);
        } else {
            // What was accepted and not forced need not have been written.
            files.values().forEach(file -> file.length = Math.max(0, file.forced));
        }
        powerFailures++;
        locks.clear();
        renames.clear();
    }

    /** As {@link #kill}, and files are what was forced. */
    public void failPower() {
        kill(false);
        files.values().removeIf(file -> file.forced < 0);
    }

    private final class Store implements DurableStore {
        private final int born = powerFailures;
        private boolean isClosed;

        Store() {
            openStores++;
        }

        private boolean isDead() {
            return born != powerFailures;
        }

        @Override
        public DurableFile create(String name) {
            boolean isThere = files.containsKey(name);
            Appender appender = (Appender) append(name, 0);
            appender.error = isThere ? name + " is there already" : appender.error;
            return appender;
        }

        @Override
        public DurableFile append(String name, long length) {
            if (!throwing.isEmpty() && name.contains(throwing)) {
                throw new IllegalStateException(name + " cannot be opened, says the test");
            }
            Content content = files.computeIfAbsent(name, key -> new Content());
            Appender appender = new Appender(this, name, content);
            if (content.length < length) {
                appender.error = "cannot append to " + name + ": it is too short";
            } else if (!isDead()) {
                content.length = (int) length;
                content.forced = Math.min(content.forced, content.length);
            }
            return appender;
        }

        @Override
        public ReadableFile read(String name) {
            if (!unreadable.isEmpty() && name.contains(unreadable)) {
                throw new java.io.UncheckedIOException(new java.io.IOException(name));
            }
            Content content = files.get(name);
            return content == null ? null : new Reader(content);
        }

        @Override
        public List<String> list() {
            if (isUnlistable) {
                throw new UncheckedIOException(new IOException("cannot list, says the test"));
            }
            return new ArrayList<>(files.keySet());
        }

        @Override
        public Completion rename(String from, String to) {
            Rename rename = new Rename(this, from, to);
            if (!isDead()) {
                renames.add(rename);
            }
            return rename;
        }

        @Override
        public Completion delete(String name) {
            if (!isDead()) {
                performRenames(null);
                toDelete.add(name);
                if (!isDeletingLate) {
                    deleteNow();
                }
            }
            return null;
        }

        @Override
        public AutoCloseable tryLock(String name, long position) {
            if (isLockless) {
                throw new UncheckedIOException(new IOException("cannot lock " + name));
            }
            files.computeIfAbsent(name, key -> new Content());
            Lock lock = new Lock(name, position);
            return locks.add(lock)
                    ? () -> {
                        if (!isDead()) {
                            locks.remove(lock);
                        }
                    }
                    : null;
        }

        @Override
        public boolean isLocked(String name, long from, long to) {
            return locks.stream()
                    .filter(lock -> lock.name.equals(name))
                    .anyMatch(lock -> lock.position >= from && lock.position < to);
        }

        @Override
        public void close() {
            openStores -= isClosed ? 0 : 1;
            isClosed = true;
        }

        @Override
        public void onReady(Runnable wakeup) {
            wakeups.add(wakeup);
        }
    }

    /** In the order asked for, up to this one; null: all. */
    private void performRenames(Rename last) {
        Rename rename;
        while ((rename = renames.poll()) != null) {
            boolean isFailing = renameFailures > 0 && renameFailures-- > 0;
            Content content = isFailing ? null : files.remove(rename.from);
            if (isFailing) {
                rename.error = "renaming " + rename.from + " failed: I/O error";
            } else if (content == null) {
                rename.error = "renaming " + rename.from + " failed: it is not there";
            } else {
                content.forced = content.length;
                files.put(rename.to, content);
            }
            rename.isDone = true;
            if (rename == last) {
                return;
            }
        }
    }

    /** Done when it was looked at for a while, and all before it. */
    private final class Rename implements DurableStore.Completion {
        private final Store store;
        private final String from;
        private final String to;
        private int looks = renameLooks;
        private boolean isDone;
        private String error = "";

        Rename(Store store, String from, String to) {
            this.store = store;
            this.from = from;
            this.to = to;
        }

        @Override
        public boolean isDone() {
            if (!isDone && !store.isDead() && --looks <= 0) {
                performRenames(this);
            }
            return isDone;
        }

        @Override
        public String error() {
            return error;
        }
    }

    private final class Appender implements DurableStore.DurableFile {
        private final Store store;
        private final String name;
        private final Content content;
        private String error = "";
        private int asked;
        private int looks;
        private long forced = -1;

        Appender(Store store, String name, Content content) {
            this.store = store;
            this.name = name;
            this.content = content;
        }

        @Override
        public int append(DirectBuffer buffer, int offset, int wanted) {
            int length = wanted;
            if (!error.isEmpty() || store.isDead()) {
                return -1;
            }
            if (name.contains("-state")) {
                length = Math.min(length, stateMax);
            }
            if (used() + length > capacity) {
                // As a real one it fails after it took some, and stays failed.
                error = "writing " + name + " failed: No space left on device";
                length /= 2;
            }
            if (content.length + length > content.bytes.length) {
                content.bytes = Arrays.copyOf(content.bytes, 2 * (content.length + length));
            }
            buffer.getBytes(offset, content.bytes, content.length, length);
            content.length += length;
            return length;
        }

        @Override
        public void force() {
            if (failures > 0 && name.contains(failing)) {
                failures--;
                error = "forcing " + name + " failed: no space left on device";
            }
            asked = content.length;
            looks = LOOKS_UNTIL_FORCED;
        }

        @Override
        public long position() {
            return content.length;
        }

        @Override
        public long forcedPosition() {
            if (isStuck || !stuck.isEmpty() && name.contains(stuck)) {
                return forced;
            }
            if (looks > 0 && --looks == 0 && error.isEmpty() && !store.isDead()) {
                content.forced = asked;
                forced = asked;
            }
            return forced;
        }

        @Override
        public String error() {
            return error;
        }

        @Override
        public void close() {}
    }

    private final class Reader implements DurableStore.ReadableFile {
        private final Content content;
        private boolean isClosed;

        Reader(Content content) {
            this.content = content;
            openReaders++;
        }

        @Override
        public long length() {
            return content.length;
        }

        @Override
        public int read(long position, MutableDirectBuffer buffer, int offset, int length) {
            if (readFailures > 0) {
                readFailures--;
                throw new java.io.UncheckedIOException(
                        new java.io.IOException("too many open files, says the test"));
            }
            int n = (int) Math.min(length, content.length - position);
            if (n <= 0) {
                return -1;
            }
            buffer.putBytes(offset, content.bytes, (int) position, n);
            bytesRead += n;
            return n;
        }

        @Override
        public void close() {
            openReaders -= isClosed ? 0 : 1;
            isClosed = true;
        }
    }
}
