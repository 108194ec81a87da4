package dev.verbena.dart;

import dev.verbena.agent.ProtocolAgent;
import java.net.URI;
import java.util.List;
import java.util.UUID;

/** The server's three agents; under construction. */
final class ServerEngine {
    ServerEngine(DartServer.Context context) {
        throw missing();
    }

    private static UnsupportedOperationException missing() {
        return new UnsupportedOperationException("the DART server is not built yet");
    }

    void startThreads() {}

    List<ProtocolAgent> agents() {
        throw missing();
    }

    void awaitReady(long timeoutNs) {
        throw missing();
    }

    boolean isReady() {
        return false;
    }

    URI uri() {
        return null;
    }

    int serverId() {
        return -1;
    }

    UUID job() {
        return null;
    }

    int clientCount() {
        return 0;
    }

    ServerStatistics statistics() {
        throw missing();
    }

    void requestStop() {
        throw missing();
    }

    boolean awaitStopped(long timeoutNs) {
        throw missing();
    }

    Throwable failure() {
        return null;
    }

    void close() {
        throw missing();
    }
}
