package dev.verbena.flesnet.archive;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.github.luben.zstd.ZstdOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Writes microslices or timeslices as FLESnet's archives have them, byte for byte (section 9.1): a
 * Boost binary archive of a little-endian machine with 64 bits. One thread.
 */
public final class ArchiveWriter implements AutoCloseable {
    static final byte[] SIGNATURE = "serialization::archive".getBytes(UTF_8);
    static final int LIBRARY_VERSION = 18;
    static final int SIZES = 0x08040804;

    private final ArchiveHead head;
    private final ByteBuffer word = ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN);
    private final OutputStream file;
    private OutputStream out;
    private boolean isFirst = true;
    private boolean isFirstComponent = true;

    /**
     * Writes the head.
     *
     * @param file closed by {@link #close}; should be buffered
     */
    public ArchiveWriter(OutputStream file, ArchiveHead head) throws IOException {
        this.file = file;
        this.head = head;
        out = file;
        u64(SIGNATURE.length);
        out.write(SIGNATURE);
        out.write(LIBRARY_VERSION);
        out.write(0);
        u32(SIZES);
        u32(1);
        preamble(2);
        u32(head.type());
        u32(head.compression());
        u64(head.createdSeconds());
        text(head.host());
        text(head.user());
        if (head.compression() == ArchiveHead.ZSTD) {
            out = new ZstdOutputStream(file);
        }
    }

    /** Adds a microslice. */
    public void write(ArchivedMicroslice microslice) throws IOException {
        require(ArchiveHead.MICROSLICES);
        if (isFirst) {
            preamble(0);
            preamble(0);
            isFirst = false;
        }
        if (microslice.descriptor().length != 32) {
            throw new IllegalArgumentException(
                    "descriptor of " + microslice.descriptor().length + " bytes");
        }
        out.write(microslice.descriptor());
        bytes(microslice.content());
    }

    /** Adds a timeslice. */
    public void write(ArchivedTimeslice timeslice) throws IOException {
        require(ArchiveHead.TIMESLICES);
        if (isFirst) {
            preamble(0);
            preamble(2);
        }
        u64(timeslice.index());
        u64(timeslice.startNs());
        u64(timeslice.durationNs());
        u32(timeslice.flags());
        u64(timeslice.position());
        u32(timeslice.coreMicroslices());
        u32(timeslice.components().size());
        vector(timeslice.components().size(), 0);
        for (ArchivedTimeslice.Component component : timeslice.components()) {
            bytes(component.data());
        }
        vector(timeslice.components().size(), 1);
        isFirst = false;
        for (ArchivedTimeslice.Component component : timeslice.components()) {
            if (isFirstComponent) {
                preamble(1);
                isFirstComponent = false;
            }
            u64(component.timeslice());
            u64(component.offset());
            u64(component.size());
            u64(component.microslices());
            u32(component.flags());
        }
    }

    private void require(int type) {
        if (head.type() != type) {
            throw new IllegalStateException("an archive of type " + head.type());
        }
    }

    private void vector(int count, int itemVersion) throws IOException {
        if (isFirst) {
            preamble(0);
        }
        u64(count);
        u32(itemVersion);
    }

    private void preamble(int version) throws IOException {
        out.write(0);
        u32(version);
    }

    private void text(String text) throws IOException {
        bytes(text.getBytes(UTF_8));
    }

    private void bytes(byte[] bytes) throws IOException {
        u64(bytes.length);
        out.write(bytes);
    }

    private void u32(int value) throws IOException {
        out.write(word.putInt(0, value).array(), 0, 4);
    }

    private void u64(long value) throws IOException {
        out.write(word.putLong(0, value).array(), 0, 8);
    }

    /** What was written so far leaves this process; a reader finds all of it. */
    public void flush() throws IOException {
        out.flush();
    }

    /** Ends the archive, and closes the file. */
    @Override
    public void close() throws IOException {
        try {
            out.close();
        } finally {
            file.close();
        }
    }
}
