package dev.verbena.agent;

import static java.nio.ByteOrder.LITTLE_ENDIAN;
import static java.nio.charset.StandardCharsets.UTF_8;

import dev.verbena.softnic.NativeAccess;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.agrona.concurrent.AtomicBuffer;
import org.agrona.concurrent.EpochClock;
import org.agrona.concurrent.UnsafeBuffer;
import org.agrona.concurrent.errors.DistinctErrorLog;
import org.agrona.concurrent.errors.ErrorConsumer;
import org.agrona.concurrent.errors.ErrorLogReader;
import org.agrona.concurrent.status.CountersManager;
import org.agrona.concurrent.status.CountersReader;

/**
 * A snapshot of the live counters of one process, read from the file that its {@link
 * RealEnvironment} keeps in {@code <shared memory>/verbena-<uid>/<job>/}.
 *
 * <p>The file is read, not mapped, and every length in it is checked, so that a file that is cut or
 * overwritten meanwhile is an {@link IOException}, never a crash.
 *
 * <pre>
 * offset size field, little-endian (counters and error log: native order, as Agrona writes them)
 *  0     8    magic "VRBCNTRS"
 *  8     4    layout version (1)
 * 12     4    length of the application name in bytes, up to 64
 * 16     8    process id
 * 24     8    start of the process, milliseconds after that of the system, 0 if unknown
 * 32     4    length of the metadata buffer
 * 36     4    length of the values buffer
 * 40     4    length of the error log
 * 44     4    byte order mark, native order
 * 48    64    application name, UTF-8
 * 112    8    the process's PID namespace, as /proc numbers it, 0 if unknown
 * 120    8    zero
 * 128         metadata, values, error log
 * </pre>
 */
public final class CountersFile {
    static {
        // Agrona buffers need what this opens.
        NativeAccess.open();
    }

    /** File name ending. */
    public static final String SUFFIX = ".counters";

    private static final long MAGIC = 0x5352_544E_4342_5256L;
    private static final int VERSION = 1;
    private static final int HEADER_LENGTH = 128;
    private static final int NAME_MAX = 64;
    private static final int COUNTER_MAX = 1024;
    private static final int METADATA_LENGTH = COUNTER_MAX * CountersReader.METADATA_LENGTH;
    private static final int VALUES_LENGTH = COUNTER_MAX * CountersReader.COUNTER_LENGTH;
    private static final int ERROR_LOG_LENGTH = 256 * 1024;
    private static final int ORDER_MARK = 0x01020304;
    private static final long FILE_LENGTH_MAX = 64L << 20;
    private static final AtomicInteger SERIAL = new AtomicInteger();

    private final Path path;
    private final UnsafeBuffer header;
    private final String application;
    private final CountersReader counters;
    private final UnsafeBuffer errorLog;

    private CountersFile(
            Path path,
            UnsafeBuffer header,
            String application,
            CountersReader counters,
            UnsafeBuffer errorLog) {
        this.path = path;
        this.header = header;
        this.application = application;
        this.counters = counters;
        this.errorLog = errorLog;
    }

    /** {@code $VERBENA_SHM_DIR}, else /dev/shm: where software NICs live too. */
    public static Path defaultShmDirectory() {
        String directory = System.getenv("VERBENA_SHM_DIR");
        return Path.of(directory == null || directory.isEmpty() ? "/dev/shm" : directory);
    }

    /**
     * Directory of a job of this user.
     *
     * @param shmDirectory as in {@link #defaultShmDirectory()}
     */
    public static Path jobDirectory(Path shmDirectory, String job) {
        return userDirectory(shmDirectory).resolve(job);
    }

    /** Directory of all jobs of this user. */
    public static Path userDirectory(Path shmDirectory) {
        return shmDirectory.resolve("verbena-" + userId());
    }

    /**
     * Paths of the counters files of one job, of live and dead processes; empty if there are none.
     *
     * @throws IOException if the directory cannot be read
     */
    public static List<Path> list(Path jobDirectory) throws IOException {
        List<Path> found = new ArrayList<>();
        try (DirectoryStream<Path> paths = Files.newDirectoryStream(jobDirectory, "*" + SUFFIX)) {
            paths.forEach(found::add);
        } catch (NoSuchFileException e) {
            return found;
        }
        found.sort(null);
        return found;
    }

    /**
     * Reads a snapshot.
     *
     * @throws IOException naming the file and the field if it is absent, cut or not ours
     */
    public static CountersFile read(Path path) throws IOException {
        byte[] bytes;
        try (FileChannel channel = FileDurableStore.openOwn(path, StandardOpenOption.READ)) {
            long size = channel.size();
            require(size >= HEADER_LENGTH && size <= FILE_LENGTH_MAX, path, "size " + size);
            bytes = bytes(channel, (int) size, path);
        }
        UnsafeBuffer file = new UnsafeBuffer(bytes);
        require(file.getLong(0, LITTLE_ENDIAN) == MAGIC, path, "magic is not that of counters");
        int version = file.getInt(8, LITTLE_ENDIAN);
        require(version == VERSION, path, "version " + version + ", known is " + VERSION);
        require(file.getInt(44) == ORDER_MARK, path, "written with another byte order");
        int nameLength = file.getInt(12, LITTLE_ENDIAN);
        require(nameLength >= 0 && nameLength <= NAME_MAX, path, "name length " + nameLength);
        int metadata = file.getInt(32, LITTLE_ENDIAN);
        int values = file.getInt(36, LITTLE_ENDIAN);
        int errors = file.getInt(40, LITTLE_ENDIAN);
        boolean lengthsFit =
                metadata >= 0
                        && values >= 0
                        && errors >= 0
                        && metadata % CountersReader.METADATA_LENGTH == 0
                        && values % CountersReader.COUNTER_LENGTH == 0
                        && metadata / CountersReader.METADATA_LENGTH
                                >= values / CountersReader.COUNTER_LENGTH
                        && HEADER_LENGTH + (long) metadata + values + errors <= bytes.length;
        require(lengthsFit, path, "lengths " + metadata + ", " + values + ", " + errors);
        int valuesAt = HEADER_LENGTH + metadata;
        CountersReader counters =
                new CountersReader(
                        section(bytes, HEADER_LENGTH, metadata),
                        section(bytes, valuesAt, values),
                        UTF_8);
        requireLabelsFit(counters, path);
        requireReadable(counters, path);
        return new CountersFile(
                path,
                section(bytes, 0, HEADER_LENGTH),
                new String(bytes, 48, nameLength, UTF_8),
                counters,
                section(bytes, valuesAt + values, errors));
    }

    /**
     * The first bytes. The magic is read first: a reader that finds it finds what its owner wrote
     * before it, on processors, too, that would load the rest earlier.
     */
    private static byte[] bytes(FileChannel channel, int length, Path path) throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate(length);
        fill(channel, bytes.limit(Long.BYTES), path);
        // Pairs with the release store of the magic.
        VarHandle.acquireFence();
        fill(channel, bytes.limit(length), path);
        return bytes.array();
    }

    private static void fill(FileChannel channel, ByteBuffer bytes, Path path) throws IOException {
        while (bytes.hasRemaining()) {
            int count = channel.read(bytes, bytes.position());
            require(count > 0, path, "cut while it was read, at byte " + bytes.position());
        }
    }

    /** Before the walk, which makes room for as many bytes as a label says that it has. */
    private static void requireLabelsFit(CountersReader counters, Path path) throws IOException {
        AtomicBuffer metadata = counters.metaDataBuffer();
        for (int at = 0; at < metadata.capacity(); at += CountersReader.METADATA_LENGTH) {
            int length = metadata.getInt(at + CountersReader.LABEL_OFFSET);
            boolean fits = length >= 0 && length <= CountersReader.MAX_LABEL_LENGTH;
            int id = at / CountersReader.METADATA_LENGTH;
            require(fits, path, "counter " + id + " has a label of " + length + " bytes");
        }
    }

    /** Walks the copy once, so that a later walk meets no damaged label. */
    private static void requireReadable(CountersReader counters, Path path) throws IOException {
        try {
            counters.forEach((value, id, label) -> {});
        } catch (IndexOutOfBoundsException | IllegalArgumentException e) {
            throw new IOException("counters file " + path + ": a counter is damaged", e);
        }
    }

    /** A copy of its own, so that its first byte is aligned for 8-byte access. */
    private static UnsafeBuffer section(byte[] bytes, int offset, int length) {
        return new UnsafeBuffer(Arrays.copyOfRange(bytes, offset, offset + length));
    }

    private static void require(boolean condition, Path path, String what) throws IOException {
        if (!condition) {
            throw new IOException("counters file " + path + ": " + what);
        }
    }

    /** Where this was read. */
    public Path path() {
        return path;
    }

    /** The process that owns the counters. */
    public long pid() {
        return header.getLong(16, LITTLE_ENDIAN);
    }

    /** What the process called itself. */
    public String application() {
        return application;
    }

    /**
     * Whether that very process (not another with its number) still runs on this machine; true of a
     * process of another PID namespace, as a container has it: its number says nothing here.
     */
    public boolean isAlive() {
        return isAlive(header);
    }

    private static boolean isAlive(UnsafeBuffer header) {
        long namespace = header.getLong(112, LITTLE_ENDIAN);
        return namespace != 0 && namespace != ProcessIdentity.namespace()
                || ProcessIdentity.isAlive(
                        header.getLong(16, LITTLE_ENDIAN), header.getLong(24, LITTLE_ENDIAN));
    }

    /** The counters at the time of reading. */
    public CountersReader counters() {
        return counters;
    }

    /**
     * Hands the distinct errors of the process to {@code consumer}.
     *
     * @return how many there are
     * @throws IOException if the log is not readable
     */
    public int errors(ErrorConsumer consumer) throws IOException {
        try {
            return ErrorLogReader.read(errorLog, consumer);
        } catch (IndexOutOfBoundsException | IllegalArgumentException e) {
            throw new IOException("counters file " + path + ": error log is damaged", e);
        }
    }

    /**
     * Whether the owner of this file has died, from the first bytes only; false if that cannot be
     * told, as of a file that is being made.
     */
    static boolean isOfTheDead(Path path) {
        byte[] bytes;
        try (FileChannel channel = FileDurableStore.openOwn(path, StandardOpenOption.READ)) {
            bytes = bytes(channel, HEADER_LENGTH, path);
        } catch (IOException e) {
            return false;
        }
        UnsafeBuffer header = new UnsafeBuffer(bytes);
        return header.getLong(0, LITTLE_ENDIAN) == MAGIC
                && header.getInt(8, LITTLE_ENDIAN) == VERSION
                && !isAlive(header);
    }

    private static final int DIRECTORY_TRIES_MAX = 100;

    private static int userId() {
        try {
            return (Integer) Files.getAttribute(Path.of("/proc/self"), "unix:uid");
        } catch (IOException e) {
            throw new UncheckedIOException("reading the user id from /proc/self", e);
        }
    }

    static Writer create(Path shmDirectory, String job, String application, EpochClock clock) {
        Path directory = jobDirectory(shmDirectory, job);
        int serial = SERIAL.getAndIncrement();
        try {
            for (int tries = 1; ; tries++) {
                try {
                    privateDirectory(userDirectory(shmDirectory));
                    DeadCounters.removeOld(userDirectory(shmDirectory));
                    privateDirectory(directory);
                    return new Writer(directory, serial, application, clock);
                } catch (NoSuchFileException e) {
                    // Somebody cleaned the empty folder away before the file was in it.
                    if (tries == DIRECTORY_TRIES_MAX) {
                        throw e;
                    }
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(
                    "cannot make a counters file in " + directory + ": " + e, e);
        }
    }

    /** Makes a directory that only its user may enter, unless it is there and is his. */
    static void privateDirectory(Path directory) throws IOException {
        FileAttribute<?> mode =
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));
        if (!Files.isDirectory(directory, LinkOption.NOFOLLOW_LINKS)) {
            try {
                Files.createDirectory(directory, mode);
            } catch (java.nio.file.FileAlreadyExistsException e) {
                if (!Files.isDirectory(directory, LinkOption.NOFOLLOW_LINKS)) {
                    throw e;
                }
            }
        }
        Object owner = Files.getAttribute(directory, "unix:uid", LinkOption.NOFOLLOW_LINKS);
        if (!owner.equals(userId())) {
            throw new IOException(directory + " belongs to user id " + owner);
        }
    }

    /** The owner's side. */
    static final class Writer implements AutoCloseable {
        private final Path path;
        private final CountersManager counters;
        private final DistinctErrorLog errorLog;
        private volatile boolean isFull;

        private Writer(Path directory, int serial, String application, EpochClock clock)
                throws IOException {
            path = unused(directory, serial);
            int length = HEADER_LENGTH + METADATA_LENGTH + VALUES_LENGTH + ERROR_LOG_LENGTH;
            // It gets its name when it is complete: an empty file would be swept as a cut segment.
            Path unfinished = directory.resolve(ProcessIdentity.unfinishedFile(serial));
            MappedByteBuffer map = mapNew(unfinished, length);
            UnsafeBuffer file = new UnsafeBuffer(map);
            byte[] name = application.getBytes(UTF_8);
            int nameLength = Math.min(name.length, NAME_MAX);
            file.putInt(8, VERSION, LITTLE_ENDIAN);
            file.putInt(12, nameLength, LITTLE_ENDIAN);
            file.putLong(16, ProcessHandle.current().pid(), LITTLE_ENDIAN);
            file.putLong(24, ProcessIdentity.ownStartMs(), LITTLE_ENDIAN);
            file.putLong(112, ProcessIdentity.namespace(), LITTLE_ENDIAN);
            file.putInt(32, METADATA_LENGTH, LITTLE_ENDIAN);
            file.putInt(36, VALUES_LENGTH, LITTLE_ENDIAN);
            file.putInt(40, ERROR_LOG_LENGTH, LITTLE_ENDIAN);
            file.putInt(44, ORDER_MARK);
            file.putBytes(48, name, 0, nameLength);
            int valuesAt = HEADER_LENGTH + METADATA_LENGTH;
            counters =
                    new CountersManager(
                            new UnsafeBuffer(map, HEADER_LENGTH, METADATA_LENGTH),
                            new UnsafeBuffer(map, valuesAt, VALUES_LENGTH),
                            UTF_8);
            errorLog =
                    new DistinctErrorLog(
                            new UnsafeBuffer(map, valuesAt + VALUES_LENGTH, ERROR_LOG_LENGTH),
                            clock,
                            UTF_8);
            // Last, with release order: a reader that sees the magic sees the lengths too.
            long magic =
                    ByteOrder.nativeOrder() == LITTLE_ENDIAN ? MAGIC : Long.reverseBytes(MAGIC);
            file.putLongOrdered(0, magic);
            Files.move(unfinished, path, StandardCopyOption.ATOMIC_MOVE);
        }

        /** A process of another PID namespace may have the same number. */
        private static Path unused(Path directory, int serial) {
            String stem = ProcessHandle.current().pid() + "-" + serial;
            Path first = directory.resolve(stem + SUFFIX);
            boolean isFree = !Files.exists(first) || isOfTheDead(first);
            String namespace = Long.toHexString(ProcessIdentity.namespace());
            return isFree ? first : directory.resolve(stem + "-" + namespace + SUFFIX);
        }

        /** Writes the whole file before mapping it: a full device is an exception, not a fault. */
        private static MappedByteBuffer mapNew(Path path, int length) throws IOException {
            FileAttribute<?> mode =
                    PosixFilePermissions.asFileAttribute(
                            PosixFilePermissions.fromString("rw-------"));
            Files.deleteIfExists(path);
            EnumSet<StandardOpenOption> options =
                    EnumSet.of(
                            StandardOpenOption.CREATE_NEW,
                            StandardOpenOption.READ,
                            StandardOpenOption.WRITE);
            try (FileChannel channel = FileChannel.open(path, options, mode)) {
                ByteBuffer zeros = ByteBuffer.allocate(length);
                while (zeros.hasRemaining()) {
                    channel.write(zeros, zeros.position());
                }
                return channel.map(FileChannel.MapMode.READ_WRITE, 0, length);
            } catch (IOException e) {
                Files.deleteIfExists(path);
                throw e;
            }
        }

        Path path() {
            return path;
        }

        CountersManager counters() {
            return counters;
        }

        /** False if the log has no room for this error. Thread-safe. */
        boolean recordError(Throwable error) {
            return errorLog.record(error);
        }

        void errorLogIsFull() {
            if (!isFull) {
                isFull = true;
                System.err.println("verbena: error log in " + path + " is full");
            }
        }

        /** The mapping stays until nobody can reach it: a late counter update must not crash. */
        @Override
        public void close() {
            try {
                Files.deleteIfExists(path);
            } catch (IOException e) {
                throw new UncheckedIOException("cannot remove " + path + ": " + e, e);
            }
        }
    }
}
