package dev.verbena.nsim.world;

import dev.verbena.agent.DurableStore;
import java.util.Arrays;
import java.util.Iterator;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.agrona.DirectBuffer;

/**
 * A directory that takes its time to force, may be full, and forgets at the end of a process what
 * was accepted and not yet written: any part of what is behind the last force may be there or not.
 * Belongs to the world's thread.
 */
public final class Disk {
    /** A file: what was accepted, and how much of it is safe. */
    static final class Content {
        private static final int LENGTH_MAX = Integer.MAX_VALUE - 8;

        private byte[] bytes = new byte[256];
        private int length;
        private int forced = -1;
        private SimulatedProcess writer;

        byte[] bytes() {
            return bytes;
        }

        int length() {
            return length;
        }

        /** A process appends from here on; answers how much is safe. */
        int open(SimulatedProcess process, int from) {
            writer = process;
            length = from;
            forced = Math.min(forced, from);
            return forced;
        }

        /** Whether an array can hold so much more. */
        boolean isShortEnough(int more) {
            return (long) length + more <= LENGTH_MAX;
        }

        void append(DirectBuffer buffer, int offset, int more) {
            long needed = (long) length + more;
            if (needed > bytes.length) {
                bytes = Arrays.copyOf(bytes, (int) Math.min(LENGTH_MAX, 2 * needed));
            }
            buffer.getBytes(offset, bytes, length, more);
            length += more;
        }

        /** So much is safe. */
        void force(int upTo) {
            forced = Math.max(forced, upTo);
        }
    }

    final World world;
    final TreeMap<String, Content> files = new TreeMap<>();
    final TreeMap<String, SimulatedProcess> locks = new TreeMap<>();
    private long busyUntilPs;
    private long capacity = Long.MAX_VALUE;

    Disk(World world) {
        this.world = world;
    }

    DurableStore open(SimulatedProcess process) {
        return new SimulatedStore(this, process);
    }

    /** Most bytes that fit; a file that wants more fails. */
    public void capacity(long bytes) {
        capacity = bytes;
    }

    /** What a file has; null: there is none. A copy. */
    public byte[] content(String name) {
        Content content = files.get(name);
        return content == null ? null : Arrays.copyOf(content.bytes, content.length);
    }

    /** Something begins when all before it is done; answers how long that and it take. */
    long delayPs(long takesPs) {
        long now = world.engine.nowPs();
        busyUntilPs = Math.max(now, busyUntilPs) + takesPs;
        return busyUntilPs - now;
    }

    boolean hasRoom(int more) {
        if (capacity == Long.MAX_VALUE) {
            return true;
        }
        long used = more;
        for (Content content : files.values()) {
            used += content.length;
        }
        return used <= capacity;
    }

    /**
     * A process has ended: its locks are free, and what it wrote last may not have been written.
     */
    void end(SimulatedProcess process, SplittableRandom random) {
        locks.values().removeIf(owner -> owner == process);
        Iterator<Map.Entry<String, Content>> all = files.entrySet().iterator();
        while (all.hasNext()) {
            Content content = all.next().getValue();
            if (content.writer == process && process.isDead) {
                content.writer = null;
                int safe = Math.max(0, content.forced);
                content.length = safe + random.nextInt(Math.max(1, content.length - safe + 1));
                if (process.host.isDown && content.forced < 0) {
                    all.remove();
                }
            }
        }
    }
}
