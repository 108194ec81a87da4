package dev.verbena.flesnet.consume;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

import dev.verbena.flesnet.FlesnetException;
import dev.verbena.staging.Arguments;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import java.nio.file.attribute.UserPrincipal;
import java.time.Instant;
import java.util.Objects;
import java.util.Set;
import org.agrona.BufferUtil;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * Where a compute node lays timeslices down for consumers. All numbers are little-endian; a field
 * has one writer. A client in Python reads the same layout: {@code clients/python/flesnet.py}.
 *
 * <pre>
 * header     0 magic  8 version u32  12 workers u32  16 items u32  20 components u32
 *            24 item length u64  32 beat u64 (grows while the broker lives)  40 ended u32
 *            (1: all was given, 2: the broker has failed)  48 process u64 of the broker
 * worker k   128 + 256 k: by the broker 0 token u64 (0: free; the upper half is the worker's
 *            process)  8 handed u64  16 items, 8 of u32;
 *            by the worker 128 completed u64  136 beat u64  144 process u64  152 leaving u32
 * item k     behind the workers, aligned to 4,096: 0 index u64  8 number u64  16 flags u32
 *            20 components u32  24 arrival spread ns u64
 *            64 + 24 i: offset in the item u64, size u32, flags u32, microslices u32,
 *            present u32
 * </pre>
 */
final class ConsumerSegment {
    /** "VRBFLES1". */
    static final long MAGIC = 0x3153454C46425256L;

    static final int VERSION = 2;
    static final int WORKERS = 16;

    /** Items handed to a worker and not completed. */
    static final int QUEUE = 8;

    static final int BEAT = 32;
    static final int ENDED = 40;
    static final int FINISHED = 1;
    static final int FAILED = 2;
    private static final int BROKER = 48;
    static final int TOKEN = 0;
    static final int HANDED = 8;
    static final int QUEUED = 16;
    static final int COMPLETED = 128;
    static final int WORKER_BEAT = 136;
    static final int PROCESS = 144;
    static final int LEAVING = 152;
    static final int TABLE = 64;
    static final int ENTRY = 24;
    private static final int HEADER_LENGTH = 128;
    private static final int WORKER_LENGTH = 256;
    private static final int ITEMS_AT = 8192;

    /** Bytes of a registration; a wish has two names of 64 characters and three short lines. */
    private static final int REGISTRATION_MAX = 1024;

    private final Object key;
    private final UnsafeBuffer buffer;
    private final int components;
    private final int items;
    private final int itemLength;

    private ConsumerSegment(
            Object key, UnsafeBuffer buffer, int components, int items, int itemLength) {
        this.key = key;
        this.buffer = buffer;
        this.components = components;
        this.items = items;
        this.itemLength = itemLength;
    }

    /**
     * Makes a segment; consumers see it when it is whole. It takes the place of one whose broker's
     * process is gone.
     *
     * @throws IOException also if there is no room for it
     * @throws FlesnetException if another file is there
     */
    static ConsumerSegment create(Path path, int components, int items, long contentLength)
            throws IOException {
        long length = (TABLE + (long) ENTRY * components + contentLength + 4095) / 4096 * 4096;
        Arguments.range("bytes of all items", length * items, 1, Integer.MAX_VALUE - ITEMS_AT);
        requireFree(path);
        Path whole = path.resolveSibling(path.getFileName() + ".new");
        Set<OpenOption> options =
                Set.of(
                        StandardOpenOption.CREATE,
                        StandardOpenOption.READ,
                        StandardOpenOption.WRITE,
                        LinkOption.NOFOLLOW_LINKS);
        var mode =
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));
        try (FileChannel channel = FileChannel.open(whole, options, mode)) {
            requireOwn(whole);
            if (!isLocked(channel)) {
                throw new FlesnetException("another process is about to make " + path);
            }
            requireFree(path); // Whoever had the lock before has made it.
            try {
                UnsafeBuffer buffer = write(channel, components, items, length);
                Object key = key(whole);
                Files.move(whole, path, StandardCopyOption.ATOMIC_MOVE);
                return new ConsumerSegment(key, buffer, components, items, (int) length);
            } catch (IOException e) {
                Files.deleteIfExists(whole);
                throw e;
            }
        }
    }

    /** What an earlier process left unfinished is locked by nobody. */
    private static boolean isLocked(FileChannel channel) throws IOException {
        try {
            return channel.tryLock() != null;
        } catch (OverlappingFileLockException e) {
            return false; // by a broker of this process
        }
    }

    private static UnsafeBuffer write(FileChannel channel, int components, int items, long length)
            throws IOException {
        int all = (int) (ITEMS_AT + length * items);
        channel.truncate(all);
        // Written before it is mapped: a full device is an exception, not a fault.
        ByteBuffer zeros = ByteBuffer.allocate(1 << 16);
        for (long at = 0; at < all; at += zeros.capacity()) {
            zeros.clear().limit((int) Math.min(zeros.capacity(), all - at));
            while (zeros.hasRemaining()) {
                channel.write(zeros, at + zeros.position());
            }
        }
        UnsafeBuffer buffer = new UnsafeBuffer(channel.map(FileChannel.MapMode.READ_WRITE, 0, all));
        buffer.putInt(8, VERSION, LITTLE_ENDIAN);
        buffer.putInt(12, WORKERS, LITTLE_ENDIAN);
        buffer.putInt(16, items, LITTLE_ENDIAN);
        buffer.putInt(20, components, LITTLE_ENDIAN);
        buffer.putLong(24, length, LITTLE_ENDIAN);
        buffer.putLong(BROKER, ProcessHandle.current().pid(), LITTLE_ENDIAN);
        buffer.putLongOrdered(0, MAGIC);
        return buffer;
    }

    private static void requireFree(Path path) throws IOException {
        if (Files.exists(path, LinkOption.NOFOLLOW_LINKS)) {
            long broker = broker(path);
            if (broker != 0) {
                throw new FlesnetException(path + " is the segment of process " + broker);
            }
        }
    }

    /** Whether the process that wrote a file still runs; a later one may have its number. */
    static boolean isAlive(long process, Path file) throws IOException {
        // Starts are known to about a second.
        Instant latest = Files.getLastModifiedTime(file).toInstant().plusSeconds(2);
        return ProcessHandle.of(process)
                .filter(ProcessHandle::isAlive)
                .map(alive -> alive.info().startInstant().map(latest::isAfter).orElse(true))
                .orElse(false);
    }

    /** The process that serves the segment at this path; 0: it is gone. */
    static long broker(Path path) throws IOException {
        UnsafeBuffer buffer = open(path).buffer;
        long process = buffer.getLong(BROKER, LITTLE_ENDIAN);
        BufferUtil.free(buffer.byteBuffer());
        return isAlive(process, path) ? process : 0;
    }

    /** Whether the file at this path is this segment still: another one may have its place. */
    boolean isAt(Path path) throws IOException {
        return Objects.equals(key, key(path));
    }

    private static Object key(Path path) throws IOException {
        try {
            return Files.readAttributes(path, BasicFileAttributes.class).fileKey();
        } catch (NoSuchFileException e) {
            return null;
        }
    }

    static boolean isAlive(long process) {
        return ProcessHandle.of(process).map(ProcessHandle::isAlive).orElse(false);
    }

    /**
     * Maps a segment that another process made.
     *
     * @throws IOException if there is none
     * @throws FlesnetException if it is another kind of file, or another user's: he could cut it
     *     off at any time
     */
    static ConsumerSegment open(Path path) throws IOException {
        requireOwn(path);
        Object key = key(path);
        MappedByteBuffer map;
        try (FileChannel channel =
                FileChannel.open(path, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            long size = Math.min(channel.size(), Integer.MAX_VALUE);
            map = channel.map(FileChannel.MapMode.READ_WRITE, 0, size);
        }
        UnsafeBuffer buffer = new UnsafeBuffer(map);
        boolean isSegment =
                buffer.capacity() >= ITEMS_AT
                        && buffer.getLongVolatile(0) == MAGIC
                        && buffer.getInt(8, LITTLE_ENDIAN) == VERSION
                        && buffer.getInt(12, LITTLE_ENDIAN) == WORKERS;
        if (!isSegment) {
            throw new FlesnetException(path + " is no segment of timeslices of this version");
        }
        int items = buffer.getInt(16, LITTLE_ENDIAN);
        int components = buffer.getInt(20, LITTLE_ENDIAN);
        long length = buffer.getLong(24, LITTLE_ENDIAN);
        boolean isWhole =
                items > 0
                        && components > 0
                        && length >= TABLE + (long) ENTRY * components
                        && length <= buffer.capacity()
                        && ITEMS_AT + length * items <= buffer.capacity();
        if (!isWhole) {
            throw new FlesnetException(path + " is cut off");
        }
        return new ConsumerSegment(key, buffer, components, items, (int) length);
    }

    private static void requireOwn(Path path) throws IOException {
        UserPrincipal owner = Files.getOwner(path, LinkOption.NOFOLLOW_LINKS);
        UserPrincipal own = Files.getOwner(Path.of("/proc/self"));
        if (!owner.equals(own)) {
            throw new FlesnetException(
                    "%s belongs to the user %s, and this process is of %s; consumers run as the user"
                                    .formatted(path, owner.getName(), own.getName())
                            + " of their compute node");
        }
    }

    UnsafeBuffer buffer() {
        return buffer;
    }

    int components() {
        return components;
    }

    int items() {
        return items;
    }

    int itemAt(int item) {
        return ITEMS_AT + item * itemLength;
    }

    static int workerAt(int worker) {
        return HEADER_LENGTH + worker * WORKER_LENGTH;
    }

    /** Registrations are files beside the segment, each of one worker's token. */
    static Path registration(Path path, long token) {
        return path.resolveSibling(prefix(path) + Long.toUnsignedString(token));
    }

    /**
     * Whether this is a file of the segment's owner. In a folder for everybody another user may put
     * a pipe there, which would block who opens it, or a file that only he can remove.
     */
    static boolean isRegistration(Path path, Path file) throws IOException {
        try {
            PosixFileAttributes found =
                    Files.readAttributes(
                            file, PosixFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
            return found.isRegularFile()
                    && found.size() <= REGISTRATION_MAX
                    && found.owner().equals(Files.getOwner(path));
        } catch (NoSuchFileException e) {
            // Its consumer has left.
            return false;
        }
    }

    static String prefix(Path path) {
        return path.getFileName() + ".register-";
    }
}
