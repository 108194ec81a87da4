package dev.verbena.transport;

import dev.verbena.memory.OffHeapMemory;
import dev.verbena.softnic.NativeAccess;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.agrona.BufferUtil;
import org.agrona.concurrent.UnsafeBuffer;

/** Memory that no transport allocated: a direct buffer, 64-byte aligned plus a chosen skew. */
public final class TestMemory implements OffHeapMemory {
    static {
        NativeAccess.open();
    }

    private final List<String> users = new ArrayList<>();
    private final UnsafeBuffer bytes;
    private boolean isClosed;

    /** Zeroed memory whose address is {@code skew} modulo 64. */
    public TestMemory(int length, int skew) {
        ByteBuffer buffer = BufferUtil.allocateDirectAligned(length + skew, 64);
        bytes = new UnsafeBuffer(buffer, skew, length);
    }

    private TestMemory(UnsafeBuffer bytes) {
        this.bytes = bytes;
    }

    /** Pages of a file that this process may only read: a store into them would end it. */
    public static TestMemory readOnly(byte[] content) throws IOException {
        Path file = Files.createTempFile("verbena", ".bin");
        try {
            Files.write(file, content);
            try (FileChannel channel = FileChannel.open(file)) {
                return new TestMemory(
                        new UnsafeBuffer(
                                channel.map(FileChannel.MapMode.READ_ONLY, 0, content.length)));
            }
        } finally {
            Files.delete(file);
        }
    }

    /**
     * Pages of the C library that this process may only read. They are mapped privately: those of
     * {@link #readOnly} are shared, which Linux before 6.2 registers with no RDMA card.
     */
    public static TestMemory readOnlyAndPrivate(int length) throws IOException {
        String line =
                Files.readAllLines(Path.of("/proc/self/maps")).stream()
                        .filter(l -> l.contains(" r--p ") && l.contains("/libc"))
                        .findFirst()
                        .orElseThrow();
        long address = Long.parseUnsignedLong(line.substring(0, line.indexOf('-')), 16);
        return new TestMemory(new UnsafeBuffer(address, length));
    }

    @Override
    public long length() {
        return bytes.capacity();
    }

    @Override
    public long address() {
        if (isClosed) {
            throw new IllegalStateException("test memory is closed");
        }
        return bytes.addressOffset();
    }

    @Override
    public UnsafeBuffer buffer(long offset, int length) {
        return new UnsafeBuffer(bytes, (int) offset, length);
    }

    @Override
    public synchronized void acquire(String user) {
        users.add(user);
    }

    @Override
    public synchronized void release(String user) {
        if (!users.remove(user)) {
            throw new IllegalStateException(user + " does not use this memory");
        }
    }

    @Override
    public boolean isClosed() {
        return isClosed;
    }

    @Override
    public synchronized void close() {
        if (!users.isEmpty()) {
            throw new IllegalStateException("test memory is used by " + users);
        }
        isClosed = true;
    }
}
