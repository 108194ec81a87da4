package dev.verbena.agent;

import dev.verbena.agent.internal.PlantedFaults;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.FileSystemException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.agrona.DirectBuffer;

/** A file being appended to: asked on one thread, written on the store's. */
final class FileAppender implements DurableStore.DurableFile {
    private final FileDurableStore store;
    private final Path path;
    private FileChannel channel;
    private long position;
    private volatile boolean isClosed;

    // Written by the store's thread only, from here on.
    private long written;
    private boolean isDirectoryForced;
    private volatile long forced = -1;
    private volatile String error = "";

    /** Keeps so many bytes of what is there; {@link Long#MAX_VALUE}: everything. */
    FileAppender(FileDurableStore store, Path path, long keep) {
        this.store = store;
        this.path = path;
        try {
            channel = FileChannel.open(path, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
            long size = channel.size();
            if (keep == Long.MAX_VALUE) {
                position = size;
            } else if (size < keep) {
                error = "cannot append to " + path + ": " + size + " bytes instead of " + keep;
            } else {
                channel.truncate(keep);
                position = keep;
            }
            written = position;
        } catch (IOException e) {
            error = "cannot append to " + path + ": " + cause(e);
        }
    }

    boolean isClosed() {
        return isClosed;
    }

    Path path() {
        return path;
    }

    /** Text of an I/O error without the path, which the caller names. */
    static String cause(Exception e) {
        if (e instanceof FileSystemException f) {
            return f.getReason() == null ? f.getClass().getSimpleName() : f.getReason();
        }
        return e.getMessage() == null ? e.getClass().getSimpleName() : e.getMessage();
    }

    @Override
    public int append(DirectBuffer buffer, int offset, int length) {
        buffer.boundsCheck(offset, length);
        if (isClosed || !error.isEmpty()) {
            return -1;
        }
        int taken = store.take(this, buffer, offset, length);
        position += Math.max(taken, 0);
        return taken;
    }

    @Override
    public void force() {
        if (!isClosed) {
            store.enqueue(this::forceNow);
        }
    }

    @Override
    public long position() {
        return position;
    }

    @Override
    public long forcedPosition() {
        return forced;
    }

    @Override
    public String error() {
        return error;
    }

    /** What was accepted is still written, without being forced. Idempotent. */
    @Override
    public void close() {
        if (!isClosed) {
            isClosed = true;
            store.enqueue(this::closeNow);
        }
    }

    /** On the store's thread. */
    void write(ByteBuffer bytes) {
        if (!error.isEmpty()) {
            return;
        }
        try {
            while (bytes.hasRemaining()) {
                written += channel.write(bytes);
            }
        } catch (IOException e) {
            if (PlantedFaults.ENABLED && PlantedFaults.isOn("store-ignores-full-device")) {
                written += bytes.remaining();
                return;
            }
            error = "writing " + path + " failed at byte " + written + ": " + cause(e);
        }
    }

    private void forceNow() {
        if (!error.isEmpty()) {
            return;
        }
        try {
            channel.force(true);
            if (!isDirectoryForced) {
                store.forceDirectory();
                isDirectoryForced = true;
            }
            forced = written;
        } catch (IOException e) {
            error = "forcing " + path + " to the device failed: " + cause(e);
        }
    }

    private void closeNow() {
        try {
            if (channel != null) {
                channel.close();
            }
        } catch (IOException e) {
            error = "closing " + path + " failed: " + cause(e);
        }
        if (error.isEmpty()) {
            store.forget(this);
        }
    }
}
