package dev.verbena.dart;

/**
 * Is told which compute processes were lost, see {@link DartReceiver.Context#lostHandler}. Called
 * on the receiver's thread; keep it short.
 */
@FunctionalInterface
public interface DartLostHandler {
    /**
     * A server has lost a process without a farewell: it died, or cannot be reached, and has not
     * come to another server within 2 s. Everything that was read of it before has been delivered.
     * A process that is started anew under the same rank is a new one.
     *
     * @param rank as the process gave it
     * @param clientId of its messages
     */
    void onLost(int applicationId, int rank, int clientId);
}
