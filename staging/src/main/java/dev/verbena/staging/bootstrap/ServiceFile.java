package dev.verbena.staging.bootstrap;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.verbena.agent.DurableStore;
import dev.verbena.agent.Environment;
import dev.verbena.staging.file.AtomicFile;
import java.io.IOException;
import java.io.UncheckedIOException;
import org.agrona.CloseHelper;
import org.agrona.concurrent.NanoClock;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * The file through which clients find a service: text of the protocol's own form, replaced as a
 * whole. Beside it lies a lock file, which tells a service that lives from a file that was left
 * over: the members of a service lock a byte each, and the one that publishes locks one more when
 * it has. Never waits; publishing is driven by {@link #publishStep}. One thread.
 */
public final class ServiceFile implements AutoCloseable {
    /** Byte of the lock file that says that a living member has published. */
    private static final long PUBLISHED_AT = 1L << 32;

    /** Whoever looks whether a lock is held holds it meanwhile, and may be preempted then. */
    private static final long LOCK_WAIT_NS = 5_000_000_000L;

    private final NanoClock clock;
    private final DurableStore store;
    private final String path;
    private final String name;
    private final int lengthMax;
    private String whyNot = "";
    private AutoCloseable lock;
    private AutoCloseable publishedLock;
    private AtomicFile next;
    private UnsafeBuffer content;
    private boolean isReplaced;
    private long replacedNs;
    private boolean isPublished;

    /**
     * Opens the directory of the file, which is read when asked for.
     *
     * @param path empty: there is no such file
     * @param lengthMax of what is read of the file, bytes
     */
    public ServiceFile(Environment environment, String path, int lengthMax) {
        // A user may have made a link to the file; stores open none.
        String target = environment.linkTarget(path);
        int slash = target.lastIndexOf('/');
        this.clock = environment.nanoClock();
        this.path = path;
        this.name = target.substring(slash + 1);
        this.lengthMax = lengthMax;
        this.store =
                path.isEmpty()
                        ? null
                        : environment.store(
                                slash < 0 ? "." : slash == 0 ? "/" : target.substring(0, slash));
    }

    /** Calls this, on any thread, when a step of publishing may be done. */
    public void onReady(Runnable wakeup) {
        store.onReady(wakeup);
    }

    /** As it was given. */
    public String path() {
        return path;
    }

    // ---- reading

    /** What the file says, at most {@code lengthMax} bytes of it; null: see {@link #whyNot}. */
    public String read() {
        try (DurableStore.ReadableFile file = store == null ? null : store.read(name)) {
            whyNot = file == null ? "there is no file " + path : "";
            return file == null ? null : read(file);
        } catch (UncheckedIOException e) {
            whyNot = e.getMessage();
            return null;
        }
    }

    private String read(DurableStore.ReadableFile file) {
        // Made when it is needed: a process with many peers has as many of these files.
        byte[] bytes = new byte[lengthMax];
        int length = Math.max(0, file.read(0, new UnsafeBuffer(bytes), 0, lengthMax));
        return new String(bytes, 0, length, UTF_8);
    }

    /**
     * As {@link #read}, but null for a file that was left over by a service that has ended. What is
     * read after the lock was seen is of the member that holds it.
     */
    public String readCurrent() {
        String found = read();
        if (found == null || isPublisherAlive()) {
            return found == null ? null : read();
        }
        whyNot = "no service of " + path + " lives: the file is stale";
        return null;
    }

    /** Why nothing was read. */
    public String whyNot() {
        return whyNot;
    }

    // ---- who lives

    /**
     * Claims the file for this member of the service, until {@link #close} or the end of the
     * process: of several with one number one gets it.
     *
     * @return false if another process has it
     * @throws UncheckedIOException if the file system cannot lock
     */
    public boolean claim(int member) {
        if (lock == null) {
            lock = store.tryLock(lockName(), member);
        }
        return lock != null;
    }

    /** Whether any member lives; false also where that cannot be told. */
    public boolean isServed() {
        return isLocked(0, PUBLISHED_AT, false);
    }

    /** Whether this member lives; true also where that cannot be told. */
    public boolean isClaimed(int member) {
        return isLocked(member, member + 1L, true);
    }

    /** Whether a member lives that has published; true also where that cannot be told. */
    public boolean isPublisherAlive() {
        return isLocked(PUBLISHED_AT, PUBLISHED_AT + 1, true);
    }

    private boolean isLocked(long from, long to, boolean otherwise) {
        try {
            return store == null ? otherwise : store.isLocked(lockName(), from, to);
        } catch (UncheckedIOException e) {
            return otherwise;
        }
    }

    private String lockName() {
        return name + ".lock";
    }

    // ---- publishing

    /**
     * Begins to publish.
     *
     * @param suffix tells the new file from that of another process until it has its name
     */
    public void publish(String text, String suffix) {
        content = new UnsafeBuffer(text.getBytes(UTF_8));
        isReplaced = false;
        isPublished = false;
        AtomicFile replacing = new AtomicFile(store, name, name + ".tmp-" + suffix);
        replacing.replace();
        next = replacing;
    }

    /** What was published last is on the device, and whoever claimed the file is known for it. */
    public boolean isPublished() {
        return isPublished;
    }

    /**
     * Publishes on.
     *
     * @return work done
     * @throws UncheckedIOException naming the file and why it cannot be written, once
     */
    public int publishStep() {
        if (next == null) {
            return isReplaced && !isPublished ? lockPublished() : 0;
        }
        int work = next.doWork(content, content.capacity());
        String error = next.error();
        if (error.isEmpty() && !next.isIdle()) {
            return work;
        }
        next.close();
        next = null;
        if (!error.isEmpty()) {
            throw new UncheckedIOException(
                    new IOException("cannot publish " + path + ": " + error));
        }
        isReplaced = true;
        replacedNs = clock.nanoTime();
        return lockPublished();
    }

    /** Tries again in the next step; another member that has published may hold it for long. */
    private int lockPublished() {
        if (lock != null && publishedLock == null) {
            publishedLock = store.tryLock(lockName(), PUBLISHED_AT);
        }
        isPublished =
                lock == null
                        || publishedLock != null
                        || clock.nanoTime() - replacedNs > LOCK_WAIT_NS;
        return 1;
    }

    /** Deletes the file; to be asked for once what it says is still one's own. */
    public void delete() {
        store.delete(name);
    }

    private void release(AutoCloseable held) {
        try {
            if (held != null) {
                held.close();
            }
        } catch (Exception e) {
            throw new IllegalStateException("cannot release the lock of " + path, e);
        }
    }

    /** Gives the claim up; what was published stays, see {@link #delete}. */
    @Override
    public void close() {
        CloseHelper.close(next);
        next = null;
        release(publishedLock);
        publishedLock = null;
        release(lock);
        lock = null;
        CloseHelper.close(store);
    }
}
