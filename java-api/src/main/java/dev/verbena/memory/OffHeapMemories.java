package dev.verbena.memory;

import dev.verbena.softnic.NativeAccess;
import dev.verbena.softnic.bindings.softnic;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.function.Supplier;
import org.agrona.BufferUtil;
import org.agrona.UnsafeApi;

/**
 * Makes {@link OffHeapMemory}. Lengths and offsets are bytes with 63 bits. Thread-safe.
 *
 * <p>System calls: {@code mmap}, {@code madvise}, {@code posix_fallocate}.
 */
public final class OffHeapMemories {
    /** A huge page, 2 MiB: of x86-64, and of AArch64 with pages of 4, 16 or 64 KiB. */
    public static final long HUGE_PAGE_LENGTH = 2L << 20;

    private static final int PAGES_DEFAULT = 0;
    private static final int PAGES_HUGE = 1;
    private static final int PAGES_TRANSPARENT = 2;

    /**
     * Shorter memory may be touched here and there only, and would have more pages than it uses.
     */
    private static final long TRANSPARENT_MIN = 32L << 20;

    private static final int ENOMEM = 12;

    static {
        NativeAccess.open();
    }

    private OffHeapMemories() {}

    /**
     * Zeroed memory; the kernel gives a page when it is first touched. From 32 MiB on it is asked
     * for transparent huge pages (unless its setting is {@code never}).
     *
     * @throws IllegalArgumentException for a length below 1
     * @throws OutOfMemoryError if the address space or the process's limit is exhausted
     */
    public static OffHeapMemory allocate(long length) {
        checkLength(length);
        int pages = length >= TRANSPARENT_MIN ? PAGES_TRANSPARENT : PAGES_DEFAULT;
        return new MappedMemory("plain", map(length, pages), length, length);
    }

    /**
     * Zeroed memory on huge pages of the kernel's pool, all reserved now. The mapping is rounded up
     * to whole huge pages of 2 MiB; the length is as asked for.
     *
     * @throws IllegalArgumentException for a length below 1
     * @throws OutOfMemoryError if the pool has too few pages; the message says how to raise it
     */
    public static OffHeapMemory allocateHugePages(long length) {
        checkLength(length);
        long mapped = (length + HUGE_PAGE_LENGTH - 1) & -HUGE_PAGE_LENGTH;
        return new MappedMemory("huge-page", map(mapped, PAGES_HUGE), length, mapped);
    }

    /**
     * Part of a file. With {@code isWritable} the file is made and grown as needed, its space is
     * reserved (in memory, whole extents of 2 MiB in huge pages if the kernel can), and stores
     * reach it; otherwise stores stay in this process.
     *
     * @param offset a multiple of the page size
     * @throws IllegalArgumentException for a bad offset or length, or a file that is too short or
     *     not an ordinary one
     * @throws java.io.UncheckedIOException for what the system refuses, errno by number
     */
    public static OffHeapMemory mapFile(Path file, long offset, long length, boolean isWritable) {
        checkLength(length);
        if (offset < 0 || offset % UnsafeApi.pageSize() != 0 || offset > Long.MAX_VALUE - length) {
            throw new IllegalArgumentException(
                    "offset %s is not a multiple of the page size, %s, within the file"
                            .formatted(offset, UnsafeApi.pageSize()));
        }
        byte[] path = (file.toString() + '\0').getBytes(StandardCharsets.UTF_8);
        long scratch = UnsafeApi.allocateMemory(8L + path.length);
        try {
            UnsafeApi.copyMemory(
                    path, BufferUtil.ARRAY_BASE_OFFSET, null, scratch + 8, path.length);
            int result =
                    softnic.vna_map_file(scratch + 8, offset, length, isWritable ? 1 : 0, scratch);
            if (result < 0) {
                throw refused(file, offset, length, -result);
            }
            return new MappedMemory(
                    "file " + file, UnsafeApi.getLong(null, scratch), length, length);
        } finally {
            UnsafeApi.freeMemory(scratch);
        }
    }

    /**
     * Memory of a direct buffer, from its index 0 to its capacity. The buffer is kept reachable
     * until close; closing frees nothing. Of a segment's buffer whose arena was closed, registering
     * the memory and windows into it are an {@link IllegalStateException}, as in {@link
     * SegmentMemories#wrap}.
     *
     * @throws IllegalArgumentException for a heap buffer, a read-only or an empty one
     */
    public static OffHeapMemory wrap(ByteBuffer buffer) {
        if (!buffer.isDirect() || buffer.isReadOnly() || buffer.capacity() == 0) {
            throw new IllegalArgumentException(
                    "not a writable direct buffer with a capacity above 0: " + buffer);
        }
        return new WrappedMemory(buffer);
    }

    /**
     * A part of other memory, which cannot be closed before it.
     *
     * @throws IndexOutOfBoundsException for a range that is not in it, or is empty
     */
    public static OffHeapMemory part(OffHeapMemory whole, long offset, long length) {
        if (offset < 0 || length < 1 || offset > whole.length() - length) {
            throw new IndexOutOfBoundsException(
                    "offset %s length %s is outside %s".formatted(offset, length, whole));
        }
        return new MemoryPart(whole, offset, length);
    }

    private static RuntimeException refused(Path file, long offset, long length, int errno) {
        String range = file + ", offset " + offset + ", length " + length;
        final int einval = 22;
        final int erange = 34;
        if (errno == erange) {
            return new IllegalArgumentException("the file ends before the range: " + range);
        }
        if (errno == einval) {
            return new IllegalArgumentException(
                    "not an ordinary file, or not a multiple of the page size: " + range);
        }
        return new java.io.UncheckedIOException(
                new java.io.IOException("map " + range + ": errno " + errno));
    }

    private static void checkLength(long length) {
        if (length < 1) {
            throw new IllegalArgumentException("length " + length + " is below 1");
        }
    }

    private static long map(long length, int pages) {
        long scratch = UnsafeApi.allocateMemory(8);
        try {
            int result = softnic.vna_map(length, pages, scratch);
            if (result < 0) {
                throw new OutOfMemoryError(
                        "mmap of %s bytes: %s%s"
                                .formatted(
                                        length,
                                        result == -ENOMEM ? "ENOMEM (12)" : "errno " + -result,
                                        pages == PAGES_HUGE
                                                ? "; the pool of huge pages of 2 MiB is too small:"
                                                        + " see HugePages_Free in /proc/meminfo,"
                                                        + " raise vm.nr_hugepages (if Hugepagesize is"
                                                        + " another size: nr_hugepages in"
                                                        + " /sys/kernel/mm/hugepages/hugepages-2048kB)"
                                                : "; see ulimit -v and the memory limit of the"
                                                        + " container"));
            }
            return UnsafeApi.getLong(null, scratch);
        } finally {
            UnsafeApi.freeMemory(scratch);
        }
    }

    /** Memory that mmap gave. */
    private static final class MappedMemory extends AbstractMemory {
        private final long mappedLength;

        MappedMemory(String kind, long address, long length, long mappedLength) {
            super(kind, address, length);
            this.mappedLength = mappedLength;
        }

        @Override
        protected void free(long address, long length) {
            softnic.vna_unmap(address, mappedLength);
        }
    }

    /** Memory of somebody's direct buffer. */
    private static final class WrappedMemory extends AbstractMemory {
        private final Supplier<String> lost;
        private ByteBuffer buffer;

        WrappedMemory(ByteBuffer buffer) {
            super("wrapped", BufferUtil.address(buffer), buffer.capacity());
            this.buffer = buffer;
            this.lost = SegmentMemories.lost(buffer);
        }

        @Override
        String lost() {
            return lost.get();
        }

        @Override
        protected void free(long address, long length) {
            buffer = null;
        }
    }

    /** Of other memory; frees nothing. */
    private static final class MemoryPart extends AbstractMemory {
        private final OffHeapMemory whole;
        private final String user;

        MemoryPart(OffHeapMemory whole, long offset, long length) {
            super("part of", whole.address() + offset, length);
            this.whole = whole;
            this.user = "its part at " + offset + " of " + length + " bytes";
            whole.acquire(user);
        }

        @Override
        String lost() {
            return whole instanceof AbstractMemory known ? known.lost() : null;
        }

        @Override
        protected void free(long address, long length) {
            whole.release(user);
        }
    }
}
