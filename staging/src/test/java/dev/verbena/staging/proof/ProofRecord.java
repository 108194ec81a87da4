package dev.verbena.staging.proof;

import dev.verbena.memory.RemoteDescriptor;
import dev.verbena.staging.control.RecordOutbox;
import dev.verbena.transport.Transport;
import org.agrona.DirectBuffer;

/** What travels: type and client, 4 bytes each, sequence and length, 8 each, a descriptor. */
record ProofRecord(int type, int client, long sequence, long length) {
    /** A client has a message. */
    static final int ANNOUNCE = 1;

    /** The service has it on its disk. */
    static final int SAVED = 2;

    /** A question whether the other lives, and the answer. */
    static final int HEARTBEAT = 3;

    static final int DESCRIPTOR = 24;
    static final int LENGTH = DESCRIPTOR + RemoteDescriptor.LENGTH;

    static ProofRecord read(DirectBuffer buffer, int at, int bytes) {
        int type = buffer.getInt(at);
        int client = buffer.getInt(at + 4);
        long sequence = buffer.getLong(at + 8);
        long length = buffer.getLong(at + 16);
        if (bytes != LENGTH || client < 0 || sequence < 0 || length < 0) {
            throw new IllegalArgumentException("malformed record of type " + type);
        }
        return new ProofRecord(type, client, sequence, length);
    }

    boolean send(RecordOutbox outbox, long connection, RemoteDescriptor where) {
        int at = outbox.next();
        if (at < 0) {
            return false;
        }
        outbox.buffer().putInt(at, type);
        outbox.buffer().putInt(at + 4, client);
        outbox.buffer().putLong(at + 8, sequence);
        outbox.buffer().putLong(at + 16, length);
        where.encode(outbox.buffer(), at + DESCRIPTOR);
        return outbox.send(connection, LENGTH) == Transport.ACCEPTED;
    }
}
