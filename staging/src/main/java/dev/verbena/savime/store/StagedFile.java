package dev.verbena.savime.store;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.verbena.agent.internal.ByteViews;
import dev.verbena.agent.internal.NativeSum;
import dev.verbena.memory.OffHeapMemories;
import dev.verbena.memory.OffHeapMemory;
import dev.verbena.staging.Checksum;
import dev.verbena.transport.Transport;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import org.agrona.DirectBuffer;
import org.agrona.collections.Long2ObjectHashMap;

/**
 * The files of one dataset: {@code ID.data} and {@code ID.meta}. Blocks of a file in memory are
 * mapped when they are asked for, after their space was reserved, and stay mapped until the file is
 * removed: a file that is used again has its pages already. If the transport can, the whole file is
 * mapped by it, so that peers on this host write into it by plain stores. One thread at a time, but
 * for what says otherwise.
 */
public final class StagedFile {
    private final StagingDirectory directory;
    private final long length;
    private final Long2ObjectHashMap<OffHeapMemory> mapped = new Long2ObjectHashMap<>();
    private final ByteViews views = new ByteViews();

    /** What could not be unmapped yet. */
    private final List<OffHeapMemory> held = new ArrayList<>();

    private final Checksum checksum = new Checksum();
    private volatile long id;
    private OffHeapMemory whole;
    private boolean wasOffered;
    private long reservedFrom;
    private long reservedTo;
    private FileChannel channel;

    StagedFile(StagingDirectory directory, long id, long length) {
        this.directory = directory;
        this.id = id;
        this.length = length;
    }

    /** Of the dataset. */
    public long length() {
        return length;
    }

    /** Where it is. */
    public boolean isInMemory() {
        return directory.isMemory();
    }

    /** The data file; its name changes when it is used again. */
    public Path data() {
        return directory.data(id);
    }

    private Path meta() {
        return directory.meta(id);
    }

    /** Makes the data file, of this length; on disk its space is reserved. */
    void create() throws IOException {
        channel =
                FileChannel.open(
                        data(),
                        StandardOpenOption.CREATE_NEW,
                        StandardOpenOption.READ,
                        StandardOpenOption.WRITE);
        if (isInMemory()) {
            // Its pages are reserved block by block, before each is mapped.
            try (RandomAccessFile sparse = new RandomAccessFile(data().toFile(), "rw")) {
                sparse.setLength(length);
            }
        } else {
            reserve();
        }
    }

    /**
     * Gives the file all of its space, and in memory all of its pages.
     *
     * @throws java.io.UncheckedIOException if there is no space
     */
    public void reserve() {
        reserveRange(0, length);
    }

    /** Mapping reserves what it maps, which is all that is wanted here. */
    private void reserveRange(long from, long to) {
        OffHeapMemories.mapFile(data(), from, to - from, true).close();
        boolean isJoined = from <= reservedTo && to >= reservedFrom;
        reservedFrom = isJoined ? Math.min(from, reservedFrom) : from;
        reservedTo = isJoined ? Math.max(to, reservedTo) : to;
    }

    /**
     * Has the transport map a file in memory, if it can; asked once. By the transport's thread,
     * while no job uses the file.
     */
    public void share(Transport transport) {
        if (!wasOffered && mapped.isEmpty()) {
            whole = transport.mapFile(data(), length);
        }
        wasOffered = true;
    }

    /** Gives the files, whose dataset is gone, to another of the same length. */
    void reuse(long nextId) throws IOException {
        Files.move(data(), directory.data(nextId), StandardCopyOption.ATOMIC_MOVE);
        id = nextId; // Only now: a file that keeps its old name is removed by that.
    }

    /**
     * Memory of a block, its space reserved. Only of a file in memory.
     *
     * @throws java.io.UncheckedIOException if there is no space
     */
    public OffHeapMemory map(long offset, int blockLength) {
        OffHeapMemory memory = mapped(offset, blockLength);
        if (memory != null) {
            return memory;
        }
        OffHeapMemory other = take(offset);
        if (other != null) {
            unmap(other);
        }
        if (whole == null) {
            memory = OffHeapMemories.mapFile(data(), offset, blockLength, true);
        } else {
            reserve(offset, blockLength);
            memory = OffHeapMemories.part(whole, offset, blockLength);
        }
        synchronized (mapped) {
            mapped.put(offset, memory);
        }
        return memory;
    }

    /** Whole huge pages, which may have parts of several blocks. */
    private void reserve(long offset, int blockLength) {
        long page = OffHeapMemories.HUGE_PAGE_LENGTH;
        long from = offset & -page;
        long to = Math.min((offset + blockLength + page - 1) & -page, length);
        if (from < reservedFrom || to > reservedTo) {
            reserveRange(from, to);
        }
    }

    /** Memory of a block that was mapped before; null: it was not. Any thread. */
    public OffHeapMemory mapped(long offset, int blockLength) {
        synchronized (mapped) {
            OffHeapMemory memory = mapped.get(offset);
            return memory != null && memory.length() == blockLength ? memory : null;
        }
    }

    private OffHeapMemory take(long offset) {
        synchronized (mapped) {
            return mapped.remove(offset);
        }
    }

    /** Writes with {@code pwrite}. */
    public void write(long position, DirectBuffer buffer, int offset, int count)
            throws IOException {
        ByteBuffer view = views.view(buffer, offset, count);
        long at = position;
        while (view.hasRemaining()) {
            at += open().write(view, at);
        }
    }

    /** CRC-32C of memory. */
    public int crc(DirectBuffer buffer, int count) {
        return NativeSum.isBetterFor(buffer)
                ? NativeSum.of(buffer, 0, count)
                : checksum.of(buffer, 0, count);
    }

    /** Forces the data, if they are on disk, then replaces the meta file. */
    public void seal(MetaFile content) throws IOException {
        if (!isInMemory()) {
            open().force(true);
        }
        writeMeta(content);
    }

    /** Replaces the meta file; on disk it is durable on return. */
    public void writeMeta(MetaFile content) throws IOException {
        Path fresh = directory.fresh(id);
        try (FileChannel out =
                FileChannel.open(
                        fresh,
                        StandardOpenOption.CREATE,
                        StandardOpenOption.WRITE,
                        StandardOpenOption.TRUNCATE_EXISTING)) {
            ByteBuffer text = ByteBuffer.wrap(content.encode().getBytes(UTF_8));
            while (text.hasRemaining()) {
                out.write(text);
            }
            if (!isInMemory()) {
                out.force(true);
            }
        }
        Files.move(
                fresh, meta(), StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        directory.force();
    }

    /** The data, from 0 to {@link #length}; closed with this. */
    public FileChannel open() throws IOException {
        if (channel == null) {
            channel = FileChannel.open(data(), StandardOpenOption.READ, StandardOpenOption.WRITE);
        }
        return channel;
    }

    /** All of it as text, for a command. */
    public String text() throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate((int) length);
        while (bytes.hasRemaining()) {
            if (open().read(bytes, bytes.position()) < 0) {
                throw new IOException("the staged text is cut");
            }
        }
        return new String(bytes.array(), UTF_8);
    }

    /** Deletes the meta file only: the data's pages are used again. */
    public void removeMeta() throws IOException {
        Files.deleteIfExists(meta());
    }

    /**
     * Unmaps, then deletes data and meta file.
     *
     * @param isRead others read the data file meanwhile: it keeps its bytes for them, and for peers
     *     that have it mapped; otherwise its pages are free on return
     */
    public void remove(boolean isRead) throws IOException {
        boolean isMapped = whole != null;
        close();
        directory.forget(this);
        if (isMapped && !isRead && held.isEmpty()) {
            try (FileChannel file = FileChannel.open(data(), StandardOpenOption.WRITE)) {
                file.truncate(0);
            }
        }
        Files.deleteIfExists(data());
        Files.deleteIfExists(meta());
        Files.deleteIfExists(directory.fresh(id)); // Of a meta file that could not be replaced.
        directory.force();
    }

    private void unmap(OffHeapMemory memory) {
        try {
            memory.close();
        } catch (IllegalStateException e) {
            held.add(memory); // A transport says that a lost peer may still write to it.
        }
    }

    /** Whether memory of it could not be unmapped yet, and still cannot. */
    public boolean isHeld() {
        List<OffHeapMemory> again = List.copyOf(held);
        held.clear();
        again.forEach(this::unmap);
        return !held.isEmpty();
    }

    /** Unmaps and closes; the files stay. */
    void close() throws IOException {
        synchronized (mapped) {
            mapped.values().forEach(this::unmap);
            mapped.clear();
        }
        if (whole != null) {
            unmap(whole);
            whole = null;
        }
        if (channel != null) {
            channel.close();
            channel = null;
        }
    }
}
