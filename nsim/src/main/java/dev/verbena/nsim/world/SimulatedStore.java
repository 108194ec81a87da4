package dev.verbena.nsim.world;

import dev.verbena.agent.DurableStore;
import java.util.ArrayList;
import java.util.List;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

/** A directory as one process sees it. */
final class SimulatedStore implements DurableStore {
    private final Disk disk;
    private final SimulatedProcess process;
    private Runnable ready = () -> {};

    SimulatedStore(Disk disk, SimulatedProcess process) {
        this.disk = disk;
        this.process = process;
    }

    /** Later, one after the other, if the process still lives then. */
    private void later(Runnable action) {
        long takes = disk.world.forcePs / 2 + disk.world.random.nextLong(disk.world.forcePs);
        disk.world.afterPs(
                disk.delayPs(takes),
                process.host.index(),
                () -> {
                    if (!process.isDead) {
                        action.run();
                        ready.run();
                        process.wakeup();
                    }
                });
    }

    private static void check(String name) {
        if (name.isEmpty() || name.contains("/") || name.equals("..") || name.equals(".")) {
            throw new IllegalArgumentException("'" + name + "' is not the name of a file");
        }
    }

    @Override
    public DurableFile create(String name) {
        check(name);
        Disk.Content there = disk.files.get(name);
        if (there == null) {
            return append(name, 0);
        }
        Appender appender = new Appender(name, there);
        appender.error = "cannot append to " + name + ": it is there already";
        return appender;
    }

    @Override
    public DurableFile append(String name, long length) {
        check(name);
        Disk.Content content = disk.files.computeIfAbsent(name, key -> new Disk.Content());
        Appender appender = new Appender(name, content);
        if (content.length() < length) {
            appender.error = "cannot append to " + name + ": it is too short";
        } else {
            appender.forced = content.open(process, (int) length);
        }
        return appender;
    }

    @Override
    public ReadableFile read(String name) {
        check(name);
        Disk.Content content = disk.files.get(name);
        return content == null ? null : new Reader(content);
    }

    @Override
    public List<String> list() {
        return new ArrayList<>(disk.files.keySet());
    }

    @Override
    public Completion rename(String from, String to) {
        check(from);
        check(to);
        Asked asked = new Asked();
        later(
                () -> {
                    Disk.Content content = disk.files.remove(from);
                    if (content == null) {
                        asked.error = "renaming " + from + " failed: it is not there";
                    } else {
                        content.force(content.length());
                        disk.files.put(to, content);
                    }
                    asked.isDone = true;
                });
        return asked;
    }

    @Override
    public Completion delete(String name) {
        check(name);
        Asked asked = new Asked();
        later(
                () -> {
                    disk.files.remove(name);
                    asked.isDone = true;
                });
        return asked;
    }

    @Override
    public AutoCloseable tryLock(String name, long position) {
        check(name);
        disk.files.computeIfAbsent(name, key -> new Disk.Content());
        String key = name + "@" + position;
        return disk.locks.putIfAbsent(key, process) == null
                ? () -> disk.locks.remove(key, process)
                : null;
    }

    @Override
    public boolean isLocked(String name, long from, long to) {
        String prefix = name + "@";
        for (String key : disk.locks.tailMap(prefix).keySet()) {
            if (!key.startsWith(prefix)) {
                return false;
            }
            boolean isOfThis = key.lastIndexOf('@') == prefix.length() - 1;
            long position = isOfThis ? Long.parseLong(key.substring(prefix.length())) : to;
            if (position >= from && position < to) {
                return true;
            }
        }
        return false;
    }

    @Override
    public void close() {}

    @Override
    public void onReady(Runnable wakeup) {
        ready = wakeup;
    }

    private static final class Asked implements Completion {
        private boolean isDone;
        private String error = "";

        @Override
        public boolean isDone() {
            return isDone;
        }

        @Override
        public String error() {
            return error;
        }
    }

    private final class Appender implements DurableFile {
        private final String name;
        private final Disk.Content content;
        private String error = "";
        private long forced = -1;

        Appender(String name, Disk.Content content) {
            this.name = name;
            this.content = content;
        }

        @Override
        public int append(DirectBuffer buffer, int offset, int length) {
            if (!error.isEmpty()) {
                return -1;
            }
            if (!disk.hasRoom(length)) {
                error = "writing " + name + " failed: no space left on device";
                return -1;
            }
            if (!content.isShortEnough(length)) {
                error = "writing " + name + " failed: a simulated file has at most 2 GiB";
                return -1;
            }
            content.append(buffer, offset, length);
            return length;
        }

        @Override
        public void force() {
            int asked = content.length();
            later(
                    () -> {
                        if (error.isEmpty()) {
                            content.force(asked);
                            forced = Math.max(forced, asked);
                        }
                    });
        }

        @Override
        public long position() {
            return content.length();
        }

        @Override
        public long forcedPosition() {
            return forced;
        }

        @Override
        public String error() {
            return error;
        }

        @Override
        public void close() {}
    }

    private static final class Reader implements ReadableFile {
        private final Disk.Content content;

        Reader(Disk.Content content) {
            this.content = content;
        }

        @Override
        public long length() {
            return content.length();
        }

        @Override
        public int read(long position, MutableDirectBuffer buffer, int offset, int length) {
            int n = (int) Math.min(length, content.length() - position);
            if (n <= 0) {
                return -1;
            }
            buffer.putBytes(offset, content.bytes(), (int) position, n);
            return n;
        }

        @Override
        public void close() {}
    }
}
