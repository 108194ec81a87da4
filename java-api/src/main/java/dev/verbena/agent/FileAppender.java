package dev.verbena.agent;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.agrona.DirectBuffer;

/**
 * A file being appended to: asked on one thread, written on the store's. The store closes it in
 * between when too many are open; its next write opens it again.
 */
final class FileAppender implements DurableStore.DurableFile {
    private final FileDurableStore store;
    private volatile Path path;

    /** Null: closed for the time being. Of the store's thread once the file is made. */
    private FileChannel channel;

    private long position;
    private volatile boolean isClosed;

    /** Position behind the last byte that was borrowed. */
    private long borrowedEnd;

    // Written by the store's thread only, from here on.
    private volatile long written;
    private long writtenBack;
    private boolean isDirectoryForced;
    private volatile long forced = -1;
    private volatile String error = "";

    /** There is no file of this name yet. */
    static final long NEW = -1;

    /**
     * Opens it at once; {@link #cut} cuts off what is behind the bytes that are kept.
     *
     * @param keep bytes that are kept of what is there; {@link #NEW}: nothing may be there
     */
    FileAppender(FileDurableStore store, Path path, long keep) {
        this.store = store;
        this.path = path;
        try {
            boolean isNew = keep == NEW;
            channel =
                    FileDurableStore.openOwn(
                            path,
                            isNew ? StandardOpenOption.CREATE_NEW : StandardOpenOption.CREATE,
                            StandardOpenOption.APPEND);
            long size = channel.size();
            if (size < keep) {
                error = tooShort(size, keep);
            } else {
                position = Math.max(0, keep);
            }
            written = position;
        } catch (IOException e) {
            error = "cannot append to " + path + ": " + cause(e);
        }
    }

    private String tooShort(long size, long keep) {
        return "cannot append to " + path + ": " + size + " bytes instead of " + keep;
    }

    /**
     * On the store's thread, before anything is written: an earlier file of this name may have had
     * bytes in the queue.
     */
    void cut() {
        if (!error.isEmpty()) {
            return;
        }
        try {
            FileChannel to = opened();
            if (to.size() < written) {
                error = tooShort(to.size(), written);
                return;
            }
            to.truncate(written);
        } catch (IOException e) {
            error = "cannot append to " + path + ": " + cause(e);
        }
    }

    boolean isClosed() {
        return isClosed;
    }

    boolean isOpen() {
        return channel != null;
    }

    /** It has another name now. */
    void renamed(Path target) {
        path = target;
    }

    /** Gives its descriptor back before anything was written. */
    void closeUnused() throws IOException {
        channel.close();
        channel = null;
    }

    /** Gives its descriptor back; what was written is forced, for a later one tells no errors. */
    void closeForNow() {
        try {
            if (writtenBack < written && error.isEmpty()) {
                channel.force(true);
                writtenBack = written;
            }
        } catch (IOException | RuntimeException | Error e) {
            error = "forcing " + path + " to the device failed: " + cause(e);
        }
        closeChannel();
    }

    private void closeChannel() {
        try {
            closeUnused();
        } catch (IOException e) {
            error = "closing " + path + " failed: " + cause(e);
        }
    }

    private FileChannel channel() throws IOException {
        boolean isOpenedAgain = channel == null;
        FileChannel to = opened();
        if (isOpenedAgain && to.size() != written) {
            throw new IOException(to.size() + " bytes instead of " + written);
        }
        return to;
    }

    private FileChannel opened() throws IOException {
        if (channel == null) {
            store.makeRoom(this);
            channel = FileDurableStore.openOwn(path, StandardOpenOption.APPEND);
        }
        store.used(this);
        return channel;
    }

    Path path() {
        return path;
    }

    /** Text of an error without the path, which the caller names. */
    static String cause(Throwable e) {
        if (e instanceof FileAlreadyExistsException) {
            return "a file of this name is there already";
        }
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
        int taken = store.queue().take(this, buffer, offset, length);
        position += Math.max(taken, 0);
        return taken;
    }

    @Override
    public int appendStable(DirectBuffer buffer, int offset, int length) {
        ByteBuffer memory = buffer.byteBuffer();
        if (memory == null || !memory.isDirect()) {
            return append(buffer, offset, length);
        }
        buffer.boundsCheck(offset, length);
        if (isClosed || !error.isEmpty()) {
            return -1;
        }
        int taken = store.queue().borrow(this, memory, buffer.wrapAdjustment() + offset, length);
        if (taken > 0) {
            position += taken;
            borrowedEnd = position;
        }
        return taken;
    }

    @Override
    public boolean isBorrowing() {
        return borrowedEnd > written && error.isEmpty();
    }

    /** On the store's thread: whether nothing was written since the file was forced. */
    boolean isForced() {
        return forced == written && error.isEmpty();
    }

    @Override
    public void force() {
        if (!isClosed) {
            store.queue().add(this::forceNow);
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
            store.queue().add(this::closeNow);
        }
    }

    /** On the store's thread. */
    void write(ByteBuffer bytes) {
        if (!error.isEmpty()) {
            return;
        }
        try {
            while (bytes.hasRemaining()) {
                written += channel().write(bytes);
            }
        } catch (IOException | RuntimeException | Error e) {
            error = "writing " + path + " failed at byte " + written + ": " + cause(e);
        }
    }

    private void forceNow() {
        if (!error.isEmpty()) {
            return;
        }
        try {
            channel().force(true);
            writtenBack = written;
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
        if (channel != null) {
            closeChannel();
        }
        store.forget(this, !error.isEmpty());
    }
}
