package dev.verbena.flesnet.archive;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.github.luben.zstd.ZstdInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.PushbackInputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Reads archives of microslices or timeslices, of this and of older versions (section 9.1). What it
 * reads may come from anywhere: lengths are not believed before their bytes are there. One thread.
 */
public final class ArchiveReader implements AutoCloseable {
    private static final int NAME_MAX = 1 << 16;
    private static final int COMPONENTS_MAX = 1 << 16;
    private static final long BYTES_MAX = 1L << 30;

    private final InputStream file;
    private final ArchiveHead head;
    private PushbackInputStream in;
    private boolean isCompressed;
    private long position;
    private boolean isFirst = true;
    private boolean isFirstComponent = true;
    private int timesliceVersion;
    private int componentVersion;
    private long itemBegin;

    /**
     * Reads the head.
     *
     * @param file closed by {@link #close}; should be buffered
     * @param expectedType type of files too old to say it
     * @throws ArchiveException if this is no such archive
     */
    public ArchiveReader(InputStream file, int expectedType) throws IOException {
        this.file = file;
        in = new PushbackInputStream(file);
        try {
            head = readHead(expectedType);
        } catch (EOFException e) {
            throw failed("it ends within its head", true);
        }
        if (head.compression() == ArchiveHead.ZSTD) {
            in = new PushbackInputStream(new ZstdInputStream(file));
            isCompressed = true;
            position = 0;
        }
    }

    /** The name of a file of a sequence: {@code %n} becomes the number, four digits or more. */
    public static String sequenceName(String pattern, int number) {
        return pattern.replace("%n", "%04d".formatted(number));
    }

    private ArchiveHead readHead(int expectedType) throws IOException {
        if (u64() != ArchiveWriter.SIGNATURE.length
                || !Arrays.equals(bytes(ArchiveWriter.SIGNATURE.length), ArchiveWriter.SIGNATURE)) {
            throw failed("it is no archive", false);
        }
        int library = u8() | u8() << 8;
        if (library > ArchiveWriter.LIBRARY_VERSION) {
            throw failed("its library version " + library + " is too new", false);
        }
        if (u32() != ArchiveWriter.SIZES || u32() != 1) {
            throw failed("it is of a machine with other sizes or byte order", false);
        }
        int version = preamble("archive", 2);
        int type = version >= 1 ? u32() : expectedType;
        int compression = version >= 2 ? u32() : ArchiveHead.PLAIN;
        long created = u64();
        String host = new String(bytes(length(NAME_MAX)), UTF_8);
        String user = new String(bytes(length(NAME_MAX)), UTF_8);
        try {
            return new ArchiveHead(type, compression, created, host, user);
        } catch (IllegalArgumentException e) {
            throw failed(e.getMessage(), false);
        }
    }

    /** What the archive says of itself. */
    public ArchiveHead head() {
        return head;
    }

    /**
     * The next microslice; null at the end.
     *
     * @throws ArchiveException if the file ends within it, or is damaged
     */
    public ArchivedMicroslice nextMicroslice() throws IOException {
        return nextMicroslice(BYTES_MAX);
    }

    /**
     * As {@link #nextMicroslice()}.
     *
     * @param contentMax bytes of the longest content that is read; a longer one is refused as
     *     damaged
     */
    public ArchivedMicroslice nextMicroslice(long contentMax) throws IOException {
        require(ArchiveHead.MICROSLICES);
        if (!hasMore()) {
            return null;
        }
        try {
            if (isFirst) {
                preamble("microslice", 0);
                preamble("microslice descriptor", 0);
                isFirst = false;
            }
            byte[] descriptor = bytes(32);
            return new ArchivedMicroslice(descriptor, bytes(length(contentMax)));
        } catch (EOFException e) {
            throw truncated();
        }
    }

    /**
     * The next timeslice; null at the end.
     *
     * @throws ArchiveException if the file ends within it, or is damaged
     */
    public ArchivedTimeslice nextTimeslice() throws IOException {
        require(ArchiveHead.TIMESLICES);
        if (!hasMore()) {
            return null;
        }
        try {
            return readTimeslice();
        } catch (EOFException e) {
            throw truncated();
        }
    }

    private ArchivedTimeslice readTimeslice() throws IOException {
        if (isFirst) {
            preamble("timeslice", 0);
            timesliceVersion = preamble("timeslice descriptor", 2);
        }
        long index = timesliceVersion >= 1 ? u64() : -1;
        long start = timesliceVersion >= 2 ? u64() : 0;
        long duration = timesliceVersion >= 2 ? u64() : 0;
        int flags = timesliceVersion >= 2 ? u32() : 0;
        long descriptorPosition = u64();
        int core = u32();
        int count = u32();
        vector(count, "data");
        List<byte[]> data = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            data.add(bytes(length(BYTES_MAX)));
        }
        vector(count, "component");
        isFirst = false;
        List<ArchivedTimeslice.Component> components = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            components.add(component(data.get(i)));
        }
        long number = index < 0 && !components.isEmpty() ? components.get(0).timeslice() : index;
        return new ArchivedTimeslice(
                number, start, duration, flags, descriptorPosition, core, components);
    }

    private ArchivedTimeslice.Component component(byte[] data) throws IOException {
        if (isFirstComponent) {
            componentVersion = preamble("component", 1);
            isFirstComponent = false;
        }
        return new ArchivedTimeslice.Component(
                u64(), u64(), u64(), u64(), componentVersion >= 1 ? u32() : 0, data);
    }

    private void vector(int expected, String what) throws IOException {
        if (isFirst) {
            preamble(what + " vector", 0);
        }
        long count = u64();
        u32();
        if (count != expected || count < 0 || count > COMPONENTS_MAX) {
            throw failed("%s entries of %s, not %s".formatted(count, what, expected), false);
        }
    }

    private void require(int type) {
        if (head.type() != type) {
            throw new IllegalStateException("an archive of type " + head.type());
        }
    }

    /** Whether another item begins; keeps its first byte. */
    private boolean hasMore() throws IOException {
        itemBegin = position;
        try {
            int next = in.read();
            if (next >= 0) {
                in.unread(next);
            }
            return next >= 0;
        } catch (IOException e) {
            throw damaged(e);
        }
    }

    private IOException damaged(IOException e) {
        // The zstd stream says so when the file ends within it.
        boolean isTruncated = String.valueOf(e.getMessage()).contains("runcated");
        return isCompressed
                ? failed("its compressed bytes cannot be read: " + e.getMessage(), isTruncated)
                : e;
    }

    private int u8() throws IOException {
        return bytes(1)[0] & 0xFF;
    }

    private int u32() throws IOException {
        return ByteBuffer.wrap(bytes(4)).order(ByteOrder.LITTLE_ENDIAN).getInt();
    }

    private long u64() throws IOException {
        return ByteBuffer.wrap(bytes(8)).order(ByteOrder.LITTLE_ENDIAN).getLong();
    }

    private int length(long max) throws IOException {
        long length = u64();
        if (length < 0 || length > max) {
            throw failed(
                    "a length of %s bytes, at most %s are taken".formatted(length, max), false);
        }
        return (int) length;
    }

    private int preamble(String what, int newest) throws IOException {
        int tracking = u8();
        int version = u32();
        if (tracking != 0 || version < 0 || version > newest) {
            throw failed(
                    "class '%s' has version %s, tracking %s".formatted(what, version, tracking),
                    false);
        }
        return version;
    }

    /** Memory grows with what is there, not with what a length claims. */
    private byte[] bytes(int length) throws IOException {
        byte[] bytes;
        try {
            bytes = in.readNBytes(length);
        } catch (IOException e) {
            throw damaged(e);
        }
        position += bytes.length;
        if (bytes.length < length) {
            throw new EOFException();
        }
        return bytes;
    }

    private ArchiveException truncated() {
        return failed("the file ends within the item that begins at byte " + itemBegin, true);
    }

    private ArchiveException failed(String what, boolean isTruncated) {
        return new ArchiveException(
                "archive, item at byte " + itemBegin + ": " + what, itemBegin, isTruncated);
    }

    @Override
    public void close() throws IOException {
        try {
            in.close();
        } finally {
            file.close();
        }
    }
}
