package dev.verbena.dart.config;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.verbena.agent.DurableStore;
import dev.verbena.agent.Environment;
import dev.verbena.agent.internal.PlantedFaults;
import dev.verbena.dart.DartConfiguration;
import dev.verbena.dart.DartException;
import java.io.UncheckedIOException;
import java.util.function.UnaryOperator;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * The configuration file in its store: written under a temporary name, forced, renamed, so that no
 * reader sees half of it; and read. Publishing is driven by {@link #publishStep}. One thread.
 */
public final class ConfigurationFile implements AutoCloseable {
    /** Bytes of the lock file: the master's, one for each slave id, the master's that published. */
    private static final long LOCK_END = 1L << 32;

    private static final int WRITING = 1;
    private static final int FORCING = 2;
    private static final int RENAMING = 3;
    private static final int PUBLISHED = 4;

    private final DurableStore store;
    private final String path;
    private final String name;
    private final UnsafeBuffer readBuffer =
            new UnsafeBuffer(new byte[DartConfiguration.LENGTH_MAX + 1]);
    private String whyNot = "";
    private AutoCloseable lock;
    private AutoCloseable publishedLock;
    private boolean isFromFile;
    private int state;
    private String temporaryName;
    private UnsafeBuffer content;
    private DurableStore.DurableFile file;
    private DurableStore.Completion rename;
    private int written;

    public ConfigurationFile(Environment environment, String path) {
        // A user may have made a link to the file; stores open none.
        String target = environment.linkTarget(path);
        int slash = target.lastIndexOf('/');
        this.path = path;
        this.name = target.substring(slash + 1);
        this.store =
                path.isEmpty()
                        ? null
                        : environment.store(
                                slash < 0 ? "." : slash == 0 ? "/" : target.substring(0, slash));
    }

    public void onReady(Runnable wakeup) {
        store.onReady(wakeup);
    }

    String path() {
        return path;
    }

    /** Why {@link #read} found nothing. */
    String whyNot() {
        return whyNot;
    }

    /** What the file says and the environment overrides, or null, see {@link #whyNot}. */
    public DartConfiguration read(UnaryOperator<String> variables) {
        DartConfiguration found = null;
        try {
            found = readFile();
        } catch (DartException e) {
            whyNot = path + " is not complete: " + e.getMessage();
        } catch (UncheckedIOException e) {
            whyNot = e.getMessage();
        }
        DartConfiguration wins = DartConfiguration.override(found, variables);
        isFromFile = found != null && wins != null && wins.url().equals(found.url());
        return wins;
    }

    /** What {@link #read} answered last is the file's address, not one of the environment. */
    boolean isFromFile() {
        return isFromFile;
    }

    /**
     * Claims the file for the server of this id, until {@link #close} or the end of the process: of
     * several masters on one file one gets it.
     *
     * @return false if another server of this id has it
     * @throws DartException {@link DartException.Code#NOT_BOOTSTRAPPED} if the file system cannot
     *     lock
     */
    public boolean claim(int serverId) {
        if (lock == null && !(PlantedFaults.ENABLED && PlantedFaults.isOn("dart-two-masters"))) {
            lock = tryLock(serverId);
            return lock != null;
        }
        return true;
    }

    private AutoCloseable tryLock(long position) {
        try {
            return store.tryLock(lockName(), position);
        } catch (UncheckedIOException e) {
            throw new DartException(
                    DartException.Code.NOT_BOOTSTRAPPED,
                    "cannot claim " + path + ": " + e.getMessage(),
                    e);
        }
    }

    /** Whether a server of whatever id lives that has claimed this file. */
    boolean isServed() {
        try {
            return store != null && store.isLocked(lockName(), 0, LOCK_END);
        } catch (UncheckedIOException e) {
            return false;
        }
    }

    /** Whether a master lives that has claimed this file; true also where that cannot be told. */
    boolean isMasterThere() {
        return isLocked(0);
    }

    /**
     * Whether a living master says this, and not a file that was left over: it locks once more when
     * it has published, so what is read after that lock was seen is its own. Masters that write two
     * lines and no job may be other programs, which lock nothing.
     */
    boolean isCurrent(DartConfiguration found, UnaryOperator<String> variables) {
        return !isFromFile
                || found.job().equals(DartConfiguration.NO_JOB)
                || isLocked(LOCK_END) && found.equals(read(variables));
    }

    private boolean isLocked(long position) {
        try {
            return store == null || store.isLocked(lockName(), position, position + 1);
        } catch (UncheckedIOException e) {
            return true;
        }
    }

    private String lockName() {
        return name + ".lock";
    }

    private DartConfiguration readFile() {
        if (store == null) {
            whyNot = "no configuration file is named, and no environment variable replaces it";
            return null;
        }
        try (DurableStore.ReadableFile readable = store.read(name)) {
            if (readable == null) {
                whyNot = "there is no file " + path;
                return null;
            }
            int length = 0;
            while (length < readBuffer.capacity()) {
                int n = readable.read(length, readBuffer, length, readBuffer.capacity() - length);
                if (n <= 0) {
                    break;
                }
                length += n;
            }
            return DartConfiguration.parse(new String(readBuffer.byteArray(), 0, length, UTF_8));
        }
    }

    public void publish(String text, String suffix) {
        content = new UnsafeBuffer(text.getBytes(UTF_8));
        temporaryName = name + ".tmp-" + suffix;
        if (PlantedFaults.ENABLED && PlantedFaults.isOn("dart-configuration-in-place")) {
            store.delete(name);
            temporaryName = name;
        }
        file = store.append(temporaryName, 0);
        written = 0;
        state = WRITING;
    }

    public boolean isPublished() {
        return state == PUBLISHED;
    }

    /**
     * Publishes on; work done.
     *
     * @throws DartException {@link DartException.Code#NOT_BOOTSTRAPPED} naming the file and why it
     *     cannot be written
     */
    public int publishStep() {
        int before = state;
        if (state == WRITING) {
            int n = file.append(content, written, content.capacity() - written);
            written += Math.max(n, 0);
            if (written == content.capacity()) {
                file.force();
                state = FORCING;
            }
        } else if (state == FORCING && file.forcedPosition() >= content.capacity()) {
            file.close();
            rename = store.rename(temporaryName, name);
            state = RENAMING;
        } else if (state == RENAMING && rename.isDone() && rename.error().isEmpty()) {
            publishedLock = lock == null ? null : tryLock(LOCK_END);
            state = PUBLISHED;
        }
        String error =
                state == RENAMING && rename.isDone()
                        ? rename.error()
                        : state == WRITING || state == FORCING ? file.error() : "";
        if (!error.isEmpty()) {
            state = 0;
            throw new DartException(
                    DartException.Code.NOT_BOOTSTRAPPED,
                    "cannot publish the configuration file " + path + ": " + error);
        }
        return state == before ? 0 : 1;
    }

    /** Deletes the file if it still says this. */
    public void withdraw(DartConfiguration own) {
        DartConfiguration found;
        try {
            found = readFile();
        } catch (DartException | UncheckedIOException e) {
            return;
        }
        if (found != null && found.url().equals(own.url())) {
            store.delete(name);
        }
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

    @Override
    public void close() {
        release(publishedLock);
        publishedLock = null;
        release(lock);
        lock = null;
        if (store != null) {
            store.close();
        }
    }
}
