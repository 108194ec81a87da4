package dev.verbena.dart;

import dev.verbena.memory.RegisteredRegion;
import dev.verbena.transport.Transport;
import java.util.List;
import org.agrona.DirectBuffer;

/** The client's state machine; under construction. */
final class ClientEngine {
    ClientEngine(DartClient client, DartClient.Context context) {
        throw missing();
    }

    private static UnsupportedOperationException missing() {
        return new UnsupportedOperationException("the DART client is not built yet");
    }

    void awaitConnected() {}

    void abandon() {}

    boolean isConnected() {
        return false;
    }

    int progress() {
        return 0;
    }

    int clientId() {
        return 0;
    }

    int serverId() {
        return -1;
    }

    Transport transport() {
        throw missing();
    }

    RegisteredRegion allocate(long length) {
        throw missing();
    }

    DartTicket send(
            RegisteredRegion region,
            long offset,
            long length,
            DartMetadata metadata,
            int tag,
            long timeoutNs) {
        throw missing();
    }

    DartTicket trySend(
            RegisteredRegion region, long offset, long length, DartMetadata metadata, int tag) {
        throw missing();
    }

    DartTicket sendCopy(
            DirectBuffer buffer,
            int offset,
            int length,
            DartMetadata metadata,
            int tag,
            long timeoutNs) {
        throw missing();
    }

    boolean wouldBlock() {
        throw missing();
    }

    void flush(long timeoutNs) {
        throw missing();
    }

    DartStatistics statistics() {
        throw missing();
    }

    List<DartTicket> unconfirmed() {
        throw missing();
    }

    void close(long timeoutNs) {
        throw missing();
    }

    void await(DartTicket ticket, TicketState atLeast, long timeoutNs) {
        throw missing();
    }

    void release(DartTicket ticket) {
        throw missing();
    }
}
