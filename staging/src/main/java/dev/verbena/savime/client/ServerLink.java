package dev.verbena.savime.client;

import dev.verbena.memory.OffHeapMemory;
import dev.verbena.memory.RegisteredRegion;
import dev.verbena.savime.wire.MessageQueue;
import dev.verbena.transport.Transport;
import org.agrona.DirectBuffer;

/** A connection to a server that is made again when it is lost. One thread. */
interface ServerLink extends AutoCloseable {
    /** Notifications to the engine. */
    interface Events {
        /** Messages can be sent; this server has been told nothing yet. */
        void onConnected();

        /** A message. */
        void onMessage(DirectBuffer buffer, int offset, int length);

        /** What {@link ServerLink#write} took is in the server's memory, or is not. */
        void onWritten(int tag, boolean isThere);

        /** Adds a question that the server answers; false: it cannot be asked now. */
        boolean askIfAlive();
    }

    /** Connects, takes messages, sends those of {@link #out}; work done. */
    int doWork();

    boolean isConnected();

    /** Why it is not connected. */
    String whyNot();

    /** Messages to be sent. */
    MessageQueue out();

    /** Makes a source ready; null where none is needed. */
    RegisteredRegion register(OffHeapMemory memory);

    /** Bytes of the pieces in which a block is best written if a checksum is wanted. */
    int pieceLength();

    /**
     * Writes a block, or a piece of it.
     *
     * @param isSummed {@link #sum} then tells its checksum
     * @return false: not now
     */
    boolean write(OutgoingBlock block, boolean isSummed);

    /** CRC-32C of the bytes that were taken last to be summed up, while they are unchanged. */
    int sum();

    /** Gives the connection up; another one is made. */
    void reset(String why);

    long nextDeadlineNs();

    /** Null: none. */
    Transport transport();

    @Override
    void close();
}
