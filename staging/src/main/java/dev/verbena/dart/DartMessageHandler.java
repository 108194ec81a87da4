package dev.verbena.dart;

/** Gets every message that a {@link DartReceiver} received. */
@FunctionalInterface
public interface DartMessageHandler {
    /**
     * One whole message. Messages of one client come in the order sent; nothing is promised between
     * clients. The message and its payload are valid until this method returns. The message counts
     * as delivered, and is acknowledged, when it has ended; with {@link AckMode#DURABLE} it has
     * been stored before.
     *
     * <p>What it throws is counted ({@link ReceiverStatistics#handlerErrorCount}), goes to the
     * error handler of the environment, and does not stop the receiver: the message counts as
     * delivered and is confirmed to its sender. Only a {@link VirtualMachineError} ends the
     * receiver.
     */
    void onMessage(DartMessage message);
}
