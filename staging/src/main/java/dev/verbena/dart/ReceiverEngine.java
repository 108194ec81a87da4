package dev.verbena.dart;

import dev.verbena.agent.ProtocolAgent;

/** The receiver's agent; under construction. */
final class ReceiverEngine implements ProtocolAgent {
    ReceiverEngine(DartReceiver.Context context) {
        throw missing();
    }

    private static UnsupportedOperationException missing() {
        return new UnsupportedOperationException("the DART receiver is not built yet");
    }

    void startThread() {}

    int port() {
        throw missing();
    }

    ReceiverStatistics statistics() {
        throw missing();
    }

    boolean awaitFinished(int serverCount, long timeoutNs) {
        throw missing();
    }

    Throwable failure() {
        return null;
    }

    void close() {
        throw missing();
    }

    @Override
    public long nextDeadlineNs() {
        return NO_DEADLINE;
    }

    @Override
    public int doWork() {
        throw missing();
    }

    @Override
    public String roleName() {
        return "dart-receiver";
    }
}
