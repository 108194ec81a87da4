package dev.verbena.agent;

import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

/** TCP as an engine sees it: nothing blocks. One thread per stream and listener. */
public interface ByteStreams {
    /**
     * Starts to connect.
     *
     * @return a stream in state CONNECTING or FAILED; never throws for what the network did
     * @throws IllegalArgumentException for a port outside 1 to 65535
     */
    ByteStream connect(String host, int port);

    /**
     * Listens. Port 0: any free port, see {@link Listener#port()}.
     *
     * @throws java.io.UncheckedIOException if the address cannot be bound, naming it
     */
    Listener listen(String host, int port);

    /** A connection. */
    interface ByteStream extends AutoCloseable {
        int CONNECTING = 0;
        int OPEN = 1;

        /**
         * Ended by the peer, or by an error; {@link #error()} says which. Unread bytes may remain
         * to be read.
         */
        int FAILED = 2;

        int CLOSED = 3;

        /** One of the constants. Drives a pending connect on. */
        int state();

        /** Why it failed, for people; empty while it works. */
        String error();

        /** Address of the peer, for people. */
        String peer();

        /** Bytes read, 0 if there are none now, -1 at the end. */
        int read(MutableDirectBuffer buffer, int offset, int length);

        /** Bytes taken, 0 if none can be taken now, -1 if the stream failed. */
        int write(DirectBuffer buffer, int offset, int length);

        /**
         * Writes two ranges, the second behind the first, as one piece where that can be done: a
         * header that travels alone costs as much as a full packet.
         *
         * @return bytes taken of both together, 0 if none can be taken now, -1 if the stream failed
         */
        default int write(
                DirectBuffer first,
                int firstOffset,
                int firstLength,
                DirectBuffer second,
                int secondOffset,
                int secondLength) {
            int taken = write(first, firstOffset, firstLength);
            if (taken < firstLength || secondLength == 0) {
                return taken;
            }
            int more = write(second, secondOffset, secondLength);
            return more < 0 ? more : taken + more;
        }

        /**
         * Asks for a wake-up only when as many reads in a row, or writes, could do nothing; at
         * first after one. A wake-up costs more than a few calls: for an owner that comes again
         * some time by itself before it sleeps, and does at least so many calls until it does.
         *
         * @param calls 1 or more
         * @throws IllegalArgumentException for less
         */
        default void wakeAfter(int calls) {}

        @Override
        void close();
    }

    /** Accepts connections. */
    interface Listener extends AutoCloseable {
        /** Port listened on. */
        int port();

        /** The next connection, or null if there is none now. */
        ByteStream accept();

        @Override
        void close();
    }

    /**
     * Registers a wake-up that is called, on any thread, when a stream of this object may be ready.
     *
     * @return to be closed when nobody needs the wake-up any more: it is kept until then
     */
    AutoCloseable onReady(Runnable wakeup);
}
