package dev.verbena.agent;

import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import org.agrona.DirectBuffer;

/**
 * What a store's thread does next, in order. Bytes to be appended are copied into a bounded pool of
 * buffers, or borrowed, as much at a time as the pool has. Any thread may add; one takes. The lock
 * is held for bookkeeping and a copy of at most one buffer, never during I/O.
 */
final class WriteQueue {
    private static final int BUFFER_LENGTH = 256 * 1024;
    private static final int BUFFER_COUNT = 32;
    private static final long BORROWED_MAX = (long) BUFFER_COUNT * BUFFER_LENGTH;

    private final ArrayDeque<Task> tasks = new ArrayDeque<>();
    private final ArrayDeque<ByteBuffer> free = new ArrayDeque<>();
    private int buffersMade;
    private long borrowedBytes;
    private boolean isClosed;

    /** What the thread does next. */
    interface Task {
        void run();
    }

    synchronized void add(Task task) {
        tasks.add(task);
        notifyAll();
    }

    /** Takes no more bytes; what was added is still handed out. */
    synchronized void close() {
        isClosed = true;
        notifyAll();
    }

    synchronized boolean isEmpty() {
        return tasks.isEmpty();
    }

    /** The next task, waiting for one; null: closed, and there is none left. */
    synchronized Task next() {
        while (tasks.isEmpty() && !isClosed) {
            try {
                wait();
            } catch (InterruptedException e) {
                // Nobody interrupts this thread on purpose; close() ends it.
                continue;
            }
        }
        return tasks.poll();
    }

    /**
     * Takes bytes for a file: into the last task if that is this file's and has room, else into a
     * free buffer.
     *
     * @return bytes taken; -1: closed
     */
    synchronized int take(FileAppender file, DirectBuffer source, int offset, int length) {
        if (isClosed) {
            return -1;
        }
        int taken = 0;
        while (taken < length) {
            Copied copied = tasks.peekLast() instanceof Copied c && c.file == file ? c : null;
            if (copied == null || !copied.bytes.hasRemaining()) {
                ByteBuffer bytes = freeBuffer();
                if (bytes == null) {
                    break;
                }
                copied = new Copied(file, bytes);
                add(copied);
            }
            int chunk = Math.min(length - taken, copied.bytes.remaining());
            int position = copied.bytes.position();
            source.getBytes(offset + taken, copied.bytes, position, chunk);
            copied.bytes.position(position + chunk);
            taken += chunk;
        }
        return taken;
    }

    private ByteBuffer freeBuffer() {
        ByteBuffer bytes = free.poll();
        if (bytes == null && buffersMade < BUFFER_COUNT) {
            buffersMade++;
            bytes = ByteBuffer.allocateDirect(BUFFER_LENGTH);
        }
        return bytes;
    }

    /**
     * Borrows bytes for a file, with the last task if that borrowed what lies before them.
     *
     * @return the length; 0: too much is borrowed already; -1: closed
     */
    synchronized int borrow(FileAppender file, ByteBuffer memory, int begin, int length) {
        if (isClosed) {
            return -1;
        }
        if (borrowedBytes > 0 && borrowedBytes + length > BORROWED_MAX) {
            return 0;
        }
        borrowedBytes += length;
        if (tasks.peekLast() instanceof Borrowed last && last.isBefore(file, memory, begin)) {
            last.extend(length);
        } else {
            add(new Borrowed(file, memory, begin, length));
        }
        return length;
    }

    private synchronized void returned(ByteBuffer bytes) {
        free.add(bytes.clear());
    }

    private synchronized void returned(int length) {
        borrowedBytes -= length;
    }

    /** Bytes on their way into a file, in a buffer of the pool. */
    private final class Copied implements Task {
        private final FileAppender file;
        private final ByteBuffer bytes;

        Copied(FileAppender file, ByteBuffer bytes) {
            this.file = file;
            this.bytes = bytes;
        }

        @Override
        public void run() {
            try {
                file.write(bytes.flip());
            } finally {
                returned(bytes);
            }
        }
    }

    /** Bytes that are written from where they are. */
    private final class Borrowed implements Task {
        private final FileAppender file;
        private final ByteBuffer memory;
        private final int begin;
        private int end;

        Borrowed(FileAppender file, ByteBuffer memory, int begin, int length) {
            this.file = file;
            this.memory = memory;
            this.begin = begin;
            this.end = begin + length;
        }

        boolean isBefore(FileAppender next, ByteBuffer its, int at) {
            return file == next && memory == its && end == at;
        }

        void extend(int length) {
            end += length;
        }

        @Override
        public void run() {
            try {
                file.write(memory.duplicate().limit(end).position(begin));
            } finally {
                returned(end - begin);
            }
        }
    }
}
