package dev.verbena.portals.transport;

import dev.verbena.transport.core.MessageTokens;

/** Messages that a handler has or has retained, by token, and where they lie. One thread. */
final class MessageSlots extends MessageTokens {
    private final ReceiveBuffer[] buffers;
    private final ReceiveQueue messages;

    MessageSlots(int count, ReceiveQueue messages) {
        super(count);
        buffers = new ReceiveBuffer[count];
        this.messages = messages;
    }

    /** A slot for a message that a handler is about to get. */
    long take(ReceiveBuffer buffer, int connection) {
        long token = take(connection);
        buffers[index(token)] = buffer;
        return token;
    }

    @Override
    public void free(long token) {
        ReceiveBuffer buffer = buffers[index(token)];
        buffers[index(token)] = null;
        super.free(token);
        messages.release(buffer);
    }
}
