package dev.verbena.staging;

import dev.verbena.agent.ByteStreams;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;
import org.agrona.collections.MutableBoolean;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * Streams between two engines that one thread runs: bytes pass through rings of memory, and no
 * network has to do with it. Whoever connects reaches whoever listens. One thread.
 */
public final class LocalStreams implements ByteStreams {
    public static final int PORT = 1;
    private static final int CAPACITY = 1 << 20;

    private final ArrayDeque<End> toAccept = new ArrayDeque<>();
    private boolean isListening;

    /** Bytes on their way in one direction; positions only grow. */
    private static final class Ring {
        private final UnsafeBuffer bytes = new UnsafeBuffer(ByteBuffer.allocateDirect(CAPACITY));
        private long written;
        private long read;

        public int write(DirectBuffer from, int offset, int length) {
            int at = (int) (written & (CAPACITY - 1));
            int room = (int) Math.min(CAPACITY - (written - read), CAPACITY - at);
            int n = Math.min(length, room);
            bytes.putBytes(at, from, offset, n);
            written += n;
            return n;
        }

        public int read(MutableDirectBuffer to, int offset, int length) {
            int at = (int) (read & (CAPACITY - 1));
            int n = (int) Math.min(Math.min(length, written - read), CAPACITY - at);
            to.putBytes(offset, bytes, at, n);
            read += n;
            return n;
        }

        public boolean isEmpty() {
            return written == read;
        }
    }

    /** One end. */
    private static final class End implements ByteStream {
        private final Ring in;
        private final Ring out;

        /** Whether both ends are open; of both. */
        private final MutableBoolean isOpen;

        private boolean isClosed;

        public End(Ring in, Ring out, MutableBoolean isOpen) {
            this.in = in;
            this.out = out;
            this.isOpen = isOpen;
        }

        @Override
        public int state() {
            return isClosed ? CLOSED : isOpen.get() || !in.isEmpty() ? OPEN : FAILED;
        }

        @Override
        public String error() {
            return isOpen.get() ? "" : "the other end was closed";
        }

        @Override
        public String peer() {
            return "this process";
        }

        @Override
        public int read(MutableDirectBuffer buffer, int offset, int length) {
            int n = in.read(buffer, offset, length);
            return n == 0 && !isOpen.get() ? -1 : n;
        }

        @Override
        public int write(DirectBuffer buffer, int offset, int length) {
            return isOpen.get() ? out.write(buffer, offset, length) : -1;
        }

        @Override
        public void close() {
            isClosed = true;
            isOpen.set(false);
        }
    }

    @Override
    public ByteStream connect(String host, int port) {
        Ring there = new Ring();
        Ring back = new Ring();
        MutableBoolean isOpen = new MutableBoolean(isListening);
        if (isListening) {
            toAccept.add(new End(there, back, isOpen));
        }
        return new End(back, there, isOpen);
    }

    @Override
    public Listener listen(String host, int port) {
        isListening = true;
        return new Listener() {
            @Override
            public int port() {
                return PORT;
            }

            @Override
            public ByteStream accept() {
                return toAccept.poll();
            }

            @Override
            public void close() {
                isListening = false;
                toAccept.forEach(End::close);
                toAccept.clear();
            }
        };
    }

    @Override
    public AutoCloseable onReady(Runnable wakeup) {
        // Both engines are run by the thread that would be woken.
        return () -> {};
    }
}
