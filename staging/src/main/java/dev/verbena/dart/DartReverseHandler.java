package dev.verbena.dart;

import org.agrona.DirectBuffer;

/** Gets in a compute process what a receiver sent to it. */
@FunctionalInterface
public interface DartReverseHandler {
    /**
     * One message, in the order in which the receiver sent them to this process. The buffer is
     * valid until this returns. A handler does not call {@code receive} itself. Nor does it close
     * the client.
     *
     * <p>An exception leaves {@link DartClient#receive}; the message counts as received.
     *
     * @param type what the sender gave
     * @param length bytes, from 0
     */
    void onMessage(int type, DirectBuffer buffer, int offset, int length);

    /**
     * A steering command, in order with the messages. Does nothing unless overridden.
     *
     * @param command valid until this returns
     */
    default void onSteering(DartSteering command) {}
}
