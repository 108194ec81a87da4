package dev.verbena.agent;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import org.agrona.MutableDirectBuffer;

/** A file being read, on the caller's thread. */
final class FileReader implements DurableStore.ReadableFile {
    private static final int CHUNK_LENGTH = 256 * 1024;

    private final Path path;
    private final FileChannel channel;
    private ByteBuffer chunk;

    FileReader(Path path, FileChannel channel) {
        this.path = path;
        this.channel = channel;
    }

    @Override
    public long length() {
        try {
            return channel.size();
        } catch (IOException e) {
            throw failed(e);
        }
    }

    @Override
    public int read(long position, MutableDirectBuffer buffer, int offset, int length) {
        buffer.boundsCheck(offset, length);
        if (position < 0) {
            throw new IllegalArgumentException("position " + position + " is negative");
        }
        if (chunk == null) {
            chunk = ByteBuffer.allocateDirect(CHUNK_LENGTH);
        }
        try {
            int total = 0;
            while (total < length) {
                chunk.clear().limit(Math.min(length - total, CHUNK_LENGTH));
                int count = channel.read(chunk, position + total);
                if (count < 0) {
                    return total == 0 ? -1 : total;
                }
                buffer.putBytes(offset + total, chunk, 0, count);
                total += count;
            }
            return total;
        } catch (IOException e) {
            throw failed(e);
        }
    }

    private UncheckedIOException failed(IOException e) {
        return new UncheckedIOException("reading " + path + " failed: " + e, e);
    }

    @Override
    public void close() {
        try {
            channel.close();
        } catch (IOException e) {
            throw failed(e);
        }
    }
}
