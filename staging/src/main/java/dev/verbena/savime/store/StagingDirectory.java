package dev.verbena.savime.store;

import dev.verbena.savime.wire.DatasetState;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.DirectoryStream;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.agrona.ErrorHandler;

/**
 * A directory of staged files, locked while it is open. {@link #recover} is called first; then
 * calls are made by one thread at a time.
 */
public final class StagingDirectory implements AutoCloseable {
    private static final String DATA = ".data";
    private static final String META = ".meta";
    private static final Set<String> QUICK = Set.of("tmpfs", "ramfs");

    private final Path path;
    private final boolean isMemory;
    private final FileChannel lockFile;
    private final boolean isQuick;
    private final Set<StagedFile> files = new HashSet<>();

    /**
     * A dataset that an earlier server has left.
     *
     * @param file not yet opened
     */
    public record Found(StagedFile file, MetaFile meta) {}

    /**
     * Opens, and makes if absent, a directory.
     *
     * @param isMemory it is of a file system in memory
     * @throws UncheckedIOException naming it, if that is impossible or another server has it
     */
    public StagingDirectory(Path path, boolean isMemory) {
        this.path = path;
        this.isMemory = isMemory;
        try {
            if (Files.exists(path) && !Files.isDirectory(path)) {
                throw new IOException("it is a file, not a folder");
            }
            Files.createDirectories(path);
            lockFile =
                    FileChannel.open(
                            path.resolve("lock"),
                            StandardOpenOption.CREATE,
                            StandardOpenOption.WRITE);
            FileLock lock = lockFile.tryLock();
            if (lock == null) {
                lockFile.close();
                throw new IOException("another staging server uses it");
            }
            isQuick = isMemory && isKeptInMemory();
        } catch (IOException | java.nio.channels.OverlappingFileLockException e) {
            // Of a file that may not be used the message is its path only.
            Object what = e instanceof FileSystemException ? e : e.getMessage();
            String why = "staging directory " + path + ": " + what;
            throw new UncheckedIOException(why, new IOException(why, e));
        }
    }

    private boolean isKeptInMemory() {
        try {
            return QUICK.contains(Files.getFileStore(path).type());
        } catch (IOException e) {
            // In a chroot the folder belongs to no mount point that the kernel lists.
            return false;
        }
    }

    boolean isMemory() {
        return isMemory;
    }

    /** Whether making and naming files here waits for no device. */
    public boolean isQuick() {
        return isQuick;
    }

    Path data(long id) {
        return path.resolve(Long.toHexString(id) + DATA);
    }

    Path meta(long id) {
        return path.resolve(Long.toHexString(id) + META);
    }

    Path fresh(long id) {
        return path.resolve(Long.toHexString(id) + ".tmp");
    }

    /** A new file. */
    public StagedFile create(long id, long length) throws IOException {
        StagedFile file = staged(id, length);
        try {
            file.create();
            return file;
        } catch (IOException | UncheckedIOException e) {
            file.remove(false);
            throw e;
        }
    }

    private synchronized StagedFile staged(long id, long length) {
        StagedFile file = new StagedFile(this, id, length);
        files.add(file);
        return file;
    }

    /** It is no more. */
    synchronized void forget(StagedFile file) {
        files.remove(file);
    }

    /** Gives pages of a dataset that is gone to a new one of the same length. */
    public StagedFile reuse(StagedFile file, long id) throws IOException {
        file.reuse(id);
        return file;
    }

    /**
     * What the file system has.
     *
     * @param total bytes
     * @param used bytes, of whatever file
     */
    public record Space(long total, long used) {}

    /** What the file system has now. */
    public Space space() throws IOException {
        if (!Files.isDirectory(path)) {
            throw new NoSuchFileException(path.toString());
        }
        File folder = path.toFile();
        long total = folder.getTotalSpace();
        return new Space(total, total - folder.getFreeSpace());
    }

    /** Makes names durable; nothing in memory, which does not survive anyway. */
    void force() throws IOException {
        if (isMemory) {
            return;
        }
        try (FileChannel directory = FileChannel.open(path, StandardOpenOption.READ)) {
            directory.force(true);
        }
    }

    /**
     * What is there, complete, in no order. Everything else is removed: what was never complete,
     * one file without the other, a length that does not fit.
     *
     * @param log is told what was removed that should have been complete
     */
    public List<Found> recover(ErrorHandler log) {
        List<Found> found = new ArrayList<>();
        try {
            for (String stem : stems()) {
                Found one = recover(stem, log);
                if (one != null) {
                    found.add(one);
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException("staging directory " + path + ": " + e, e);
        }
        return found;
    }

    private TreeSet<String> stems() throws IOException {
        TreeSet<String> stems = new TreeSet<>();
        try (DirectoryStream<Path> files = Files.newDirectoryStream(path, "*.{data,meta,tmp}")) {
            for (Path file : files) {
                String name = file.getFileName().toString();
                stems.add(name.substring(0, name.lastIndexOf('.')));
            }
        }
        return stems;
    }

    private Found recover(String stem, ErrorHandler log) throws IOException {
        Path data = path.resolve(stem + DATA);
        Path meta = path.resolve(stem + META);
        String why = "";
        if (Files.exists(meta)) {
            try {
                MetaFile content = MetaFile.parse(Files.readString(meta));
                long length = Files.exists(data) ? Files.size(data) : -1;
                boolean isNamedSo = Long.toHexString(content.id()).equals(stem);
                if (content.state() == DatasetState.RECEIVING) {
                    why = "";
                } else if (length != content.totalBytes() || !isNamedSo) {
                    why = "its file has " + length + " bytes, not " + content.totalBytes();
                } else {
                    Files.deleteIfExists(path.resolve(stem + ".tmp"));
                    return new Found(staged(content.id(), length), content);
                }
            } catch (IllegalArgumentException | IOException e) {
                why = e.getMessage();
            }
        }
        Files.deleteIfExists(data);
        Files.deleteIfExists(meta);
        Files.deleteIfExists(path.resolve(stem + ".tmp"));
        if (!why.isEmpty()) {
            log.onError(new IllegalStateException("removed " + meta + ": " + why));
        }
        return null;
    }

    /**
     * Unmaps and closes its files, which stay, and gives the lock back. No region is registered on
     * them any more.
     */
    @Override
    public synchronized void close() {
        try {
            closeFiles();
        } catch (IOException e) {
            throw new UncheckedIOException("staging directory " + path + ": " + e, e);
        }
    }

    private void closeFiles() throws IOException {
        try {
            for (StagedFile file : files) {
                file.close();
            }
            files.clear();
        } finally {
            lockFile.close();
        }
    }
}
