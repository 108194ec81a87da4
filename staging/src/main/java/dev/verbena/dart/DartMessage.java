package dev.verbena.dart;

import org.agrona.DirectBuffer;

/** A received message, valid only while it is being handled. */
public interface DartMessage {
    /** Who, what, which step, which shape. */
    DartMetadata metadata();

    /** Holds the payload. */
    DirectBuffer buffer();

    /** Where the payload begins in {@link #buffer()}. */
    int offset();

    /** Bytes of payload. */
    int length();

    /** Id that the master gave to the sending process; unique over all servers. */
    int clientId();

    /** Number of the message at its process, from 1, without gaps. */
    long sequence();

    /** What the sender gave. */
    int tag();

    /** Server that streamed it: 0 is the master. */
    int serverId();

    /** CRC-32C of the payload as it arrived. */
    int crc32c();

    /** True if the sender gave a checksum of the data and it differs from {@link #crc32c()}. */
    boolean isCorrupt();

    /** Name of the file that holds the payload, empty if it was not stored. */
    String fileName();

    /**
     * The handler has moved the file, to this path below the receiver's directory, and that is what
     * its description says ({@link DartReceiver.Context#describe}); empty: it is part of another
     * file, or gone, and is not described.
     */
    default void movedTo(String place) {}
}
