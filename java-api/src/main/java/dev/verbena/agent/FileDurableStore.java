package dev.verbena.agent;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.agrona.ErrorHandler;

/**
 * A directory of a real file system. One thread writes, forces, renames and deletes in the order
 * asked for; appends are copied into a bounded pool of buffers, and when that is used up they
 * answer 0. Direct memory that stays as it is can be borrowed instead, as much at a time as the
 * pool has. Opening, reading and listing happen on the caller's thread.
 *
 * <p>Durable means: {@code force} is fsync of the file and, the first time, of the directory; a
 * rename is fsync of the source, unless it is open here and was just forced, rename, fsync of the
 * directory. After the first error a file stays failed: an fsync that is repeated after an error
 * proves nothing.
 *
 * <p>{@link WriteQueue} has the bound. Thread-safe; a file is used by one thread.
 */
final class FileDurableStore implements DurableStore {
    private static final int NAME_BYTES_MAX = 255;

    /** Descriptors for files being appended to; few systems allow a process less than 4096. */
    private static final int OPEN_MAX = 1024;

    /** Type of a file in its mode, see inode(7). */
    private static final int TYPE_MASK = 0170000;

    private static final int TYPE_PIPE = 0010000;
    private static final int TYPE_LINK = 0120000;
    private static final long CLOSE_TIMEOUT_MS = 30_000;

    private final int openMax;
    private final Path directory;
    private final ErrorHandler errorHandler;
    private final List<Runnable> wakeups = new CopyOnWriteArrayList<>();
    private final Thread thread;

    private final WriteQueue queue = new WriteQueue();

    /** The last of {@link #withDescriptor} for certain; null: it may be another one. */
    private volatile FileAppender lastUsed;

    // Guarded by this, from here on; never held during I/O.
    // Open files, and closed ones that failed: their bytes may be incomplete.
    private final Set<FileAppender> open = new HashSet<>();

    /** In the order of their last use. */
    private final Set<FileAppender> withDescriptor = new LinkedHashSet<>();

    private boolean isClosed;

    private FileDurableStore(Path directory, ErrorHandler errorHandler, int openMax) {
        this.openMax = openMax;
        this.directory = directory;
        this.errorHandler = errorHandler;
        this.thread = new Thread(this::work, "verbena-store-" + directory.getFileName());
        this.thread.setDaemon(true);
    }

    static FileDurableStore open(Path directory, ErrorHandler errorHandler) {
        return open(directory, errorHandler, OPEN_MAX);
    }

    /** With another number of descriptors, for tests. */
    static FileDurableStore open(Path directory, ErrorHandler errorHandler, int openMax) {
        FileDurableStore store = new FileDurableStore(made(directory), errorHandler, openMax);
        store.thread.start();
        return store;
    }

    /** Makes it durably: its one path without links, for files are told apart by their paths. */
    private static Path made(Path directory) {
        Path absolute = directory.toAbsolutePath().normalize();
        Path kept = absolute;
        while (Files.notExists(kept)) {
            kept = kept.getParent();
        }
        try {
            Path made = Files.createDirectories(absolute).toRealPath();
            // The name of a folder is in the one above it.
            for (Path path = absolute; !path.equals(kept); path = path.getParent()) {
                forcePath(path.getParent().toRealPath());
            }
            return made;
        } catch (IOException e) {
            throw new UncheckedIOException("cannot make the directory " + absolute + ": " + e, e);
        }
    }

    /** Refuses what is not a plain name in this directory. */
    static String checkName(String name) {
        boolean isPlain = !name.isEmpty() && !name.equals(".") && !name.equals("..");
        for (int i = 0; isPlain && i < name.length(); i++) {
            char c = name.charAt(i);
            isPlain = c != '/' && c != '\\' && !Character.isISOControl(c);
        }
        if (!isPlain || name.getBytes(UTF_8).length > NAME_BYTES_MAX) {
            StringBuilder shown = new StringBuilder();
            name.chars()
                    .limit(80)
                    .forEach(c -> shown.append(Character.isISOControl(c) ? '?' : (char) c));
            throw new IllegalArgumentException(
                    ("file name '%s': one path element of 1 to 255 bytes without slash,"
                                    + " backslash and control characters")
                            .formatted(shown));
        }
        return name;
    }

    @Override
    public DurableFile create(String name) {
        return open(name, FileAppender.NEW);
    }

    @Override
    public DurableFile append(String name, long length) {
        if (length < 0) {
            throw new IllegalArgumentException("length " + length + " is negative");
        }
        return open(name, length);
    }

    private DurableFile open(String name, long keep) {
        checkOpen();
        FileAppender file = new FileAppender(this, directory.resolve(checkName(name)), keep);
        Set<FileAppender> earlier;
        boolean hasRoom;
        synchronized (this) {
            earlier = closedOf(file.path());
            // One that could not be made is not the file that has its name.
            if (keep != FileAppender.NEW || file.isOpen()) {
                open.add(file);
            }
            hasRoom = file.isOpen() && withDescriptor.size() < openMax;
            if (hasRoom) {
                withDescriptor.add(file);
                lastUsed = null;
            }
        }
        if (file.isOpen() && !hasRoom) {
            closeUnused(file);
        }
        if (keep != FileAppender.NEW || !earlier.isEmpty()) {
            queue.add(() -> begin(file, keep, earlier));
        }
        return file;
    }

    /** With the lock held. */
    private Set<FileAppender> closedOf(Path path) {
        Set<FileAppender> closed = new HashSet<>();
        for (FileAppender file : open) {
            if (file.isClosed() && file.path().equals(path)) {
                closed.add(file);
            }
        }
        return closed;
    }

    /** Behind what was asked for before, such as bytes of an earlier file of this name. */
    private void begin(FileAppender file, long keep, Set<FileAppender> earlier) {
        forgetAll(earlier, file.path());
        if (keep != FileAppender.NEW) {
            file.cut();
        }
    }

    /** Their failures are no longer those of the file of this name. */
    private synchronized void forgetAll(Set<FileAppender> earlier, Path path) {
        earlier.removeIf(file -> !file.path().equals(path));
        open.removeAll(earlier);
    }

    /** On the store's thread: the file is the last one to be closed for want of room. */
    void used(FileAppender file) {
        if (file == lastUsed) {
            return;
        }
        synchronized (this) {
            if (withDescriptor.remove(file)) {
                withDescriptor.add(file);
                lastUsed = file;
            }
        }
    }

    private static void closeUnused(FileAppender file) {
        try {
            file.closeUnused();
        } catch (IOException e) {
            throw new UncheckedIOException("cannot close " + file.path() + ": " + e, e);
        }
    }

    /** On the store's thread: this file gets a descriptor. */
    void makeRoom(FileAppender file) {
        FileAppender oldest = null;
        synchronized (this) {
            if (withDescriptor.size() >= openMax) {
                oldest = withDescriptor.iterator().next();
                withDescriptor.remove(oldest);
            }
            withDescriptor.add(file);
            lastUsed = null;
        }
        if (oldest != null) {
            oldest.closeForNow();
        }
    }

    @Override
    public ReadableFile read(String name) {
        checkOpen();
        Path path = directory.resolve(checkName(name));
        try {
            return new FileReader(path, openOwn(path, StandardOpenOption.READ));
        } catch (NoSuchFileException e) {
            return null;
        } catch (IOException e) {
            throw new UncheckedIOException("cannot read " + path + ": " + e, e);
        }
    }

    @Override
    public List<String> list() {
        checkOpen();
        List<String> names = new ArrayList<>();
        try (DirectoryStream<Path> paths = Files.newDirectoryStream(directory)) {
            for (Path path : paths) {
                if (Files.isRegularFile(path, LinkOption.NOFOLLOW_LINKS)) {
                    names.add(path.getFileName().toString());
                }
            }
        } catch (IOException | java.nio.file.DirectoryIteratorException e) {
            throw new UncheckedIOException(
                    "cannot list " + directory + ": " + e, new IOException(e));
        }
        names.sort(null);
        return names;
    }

    @Override
    public Completion rename(String from, String to) {
        Path source = directory.resolve(checkName(from));
        Path target = directory.resolve(checkName(to));
        return submit(
                new Request(this, "renaming " + source + " to " + target.getFileName()) {
                    @Override
                    void perform() throws IOException {
                        refuseIfFailed(source);
                        if (!isForced(source)) {
                            forcePath(source);
                        }
                        Files.move(
                                source,
                                target,
                                StandardCopyOption.ATOMIC_MOVE,
                                StandardCopyOption.REPLACE_EXISTING);
                        forceDirectory();
                        renamed(source, target);
                    }
                });
    }

    /** What has failed is no longer under this name. */
    private synchronized void forgetClosed(Path path) {
        open.removeIf(file -> file.isClosed() && file.path().equals(path));
    }

    private synchronized void renamed(Path source, Path target) {
        forgetClosed(target);
        for (FileAppender file : open) {
            if (file.path().equals(source)) {
                file.renamed(target);
            }
        }
    }

    @Override
    public Completion delete(String name) {
        Path path = directory.resolve(checkName(name));
        return submit(
                new Request(this, "deleting " + path) {
                    @Override
                    void perform() throws IOException {
                        try {
                            Files.delete(path);
                        } finally {
                            if (Files.notExists(path, LinkOption.NOFOLLOW_LINKS)) {
                                forgetClosed(path);
                            }
                        }
                        forceDirectory();
                    }
                });
    }

    @Override
    public AutoCloseable tryLock(String name, long position) {
        checkOpen();
        return FileLocks.tryLock(directory.resolve(checkName(name)), position);
    }

    @Override
    public boolean isLocked(String name, long from, long to) {
        checkOpen();
        return FileLocks.isLocked(directory.resolve(checkName(name)), from, to);
    }

    private Completion submit(Request request) {
        checkOpen();
        queue.add(request);
        return request;
    }

    /** A file of which bytes may be missing must not appear under its final name. */
    private synchronized void refuseIfFailed(Path path) throws IOException {
        for (FileAppender file : open) {
            if (file.path().equals(path) && !file.error().isEmpty()) {
                throw new IOException("the file has failed: " + file.error());
            }
        }
    }

    private synchronized boolean isForced(Path path) {
        for (FileAppender file : open) {
            if (file.path().equals(path)) {
                return file.isForced();
            }
        }
        return false;
    }

    void forceDirectory() throws IOException {
        forcePath(directory);
    }

    private static void forcePath(Path path) throws IOException {
        try (FileChannel channel = openOwn(path, StandardOpenOption.READ)) {
            channel.force(true);
        }
    }

    /** Opens what has this very name: no link to it, and no pipe, at which opening would wait. */
    static FileChannel openOwn(Path path, OpenOption... options) throws IOException {
        try {
            int mode = (int) Files.getAttribute(path, "unix:mode", LinkOption.NOFOLLOW_LINKS);
            if ((mode & TYPE_MASK) == TYPE_PIPE || (mode & TYPE_MASK) == TYPE_LINK) {
                throw new FileSystemException(path.toString(), null, "it is a link or a pipe");
            }
        } catch (NoSuchFileException e) {
            // It may be made now.
        }
        Set<OpenOption> all = new HashSet<>(List.of(options));
        all.add(LinkOption.NOFOLLOW_LINKS);
        return FileChannel.open(path, all);
    }

    @Override
    public void onReady(Runnable wakeup) {
        wakeups.add(wakeup);
    }

    private void ready() {
        for (Runnable wakeup : wakeups) {
            try {
                wakeup.run();
            } catch (RuntimeException | Error e) {
                errorHandler.onError(e);
            }
        }
    }

    private synchronized void checkOpen() {
        if (isClosed) {
            throw new IllegalStateException("store " + directory + " is closed");
        }
    }

    WriteQueue queue() {
        return queue;
    }

    private void work() {
        for (WriteQueue.Task task = queue.next(); task != null; task = queue.next()) {
            try {
                task.run();
            } catch (RuntimeException | Error e) {
                errorHandler.onError(e);
            }
            ready();
        }
    }

    synchronized void forget(FileAppender file, boolean hasFailed) {
        withDescriptor.remove(file);
        lastUsed = null;
        if (!hasFailed) {
            open.remove(file);
        }
    }

    /**
     * Refuses more, does what was accepted, then ends the thread; waits for that, up to 30 s, and
     * goes on waiting when interrupted.
     *
     * @throws IllegalStateException naming the directory, if not all was done by then
     */
    @Override
    public void close() {
        List<FileAppender> left;
        synchronized (this) {
            if (isClosed) {
                return;
            }
            left = new ArrayList<>(open);
        }
        left.forEach(FileAppender::close);
        synchronized (this) {
            isClosed = true;
        }
        queue.close();
        AgentThread.awaitEnd(thread, TimeUnit.MILLISECONDS.toNanos(CLOSE_TIMEOUT_MS));
        if (thread.isAlive()) {
            throw new IllegalStateException(
                    "store %s has not written all within %s ms"
                            .formatted(directory, CLOSE_TIMEOUT_MS));
        }
        if (!queue.isEmpty()) {
            throw new IllegalStateException(
                    "store " + directory + " has not written all: an error ended its thread");
        }
    }

    /** Something asked for whose end is observed. */
    private abstract static class Request implements WriteQueue.Task, Completion {
        private final String what;
        private final FileDurableStore store;
        private volatile boolean isDone;
        private volatile String error = "";

        Request(FileDurableStore store, String what) {
            this.store = store;
            this.what = what;
        }

        abstract void perform() throws IOException;

        @Override
        public void run() {
            try {
                perform();
            } catch (IOException | RuntimeException | Error e) {
                error = what + " failed: " + FileAppender.cause(e);
                store.errorHandler.onError(new IOException(error, e));
            } finally {
                isDone = true;
            }
        }

        @Override
        public boolean isDone() {
            return isDone;
        }

        @Override
        public String error() {
            return error;
        }
    }
}
