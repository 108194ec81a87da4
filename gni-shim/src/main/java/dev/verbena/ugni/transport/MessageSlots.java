package dev.verbena.ugni.transport;

import dev.verbena.transport.core.MessageTokens;
import org.agrona.BufferUtil;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * Messages that a handler has or has retained, by token. A message is shown where it lies in its
 * mailbox; short messages must be released in order, so one that is retained is copied, and the
 * view that the handler got shows the copy from then on. One thread.
 */
final class MessageSlots extends MessageTokens {
    private final UnsafeBuffer[] views;
    private final UnsafeBuffer[] copies;
    private final int lengthMax;

    MessageSlots(int count, int lengthMax) {
        super(count);
        views = new UnsafeBuffer[count];
        copies = new UnsafeBuffer[count];
        this.lengthMax = lengthMax;
        for (int i = 0; i < count; i++) {
            views[i] = new UnsafeBuffer(0, 0);
        }
    }

    /** A slot for a message that a handler is about to get. */
    long take(long address, int length, int connection) {
        long token = take(connection);
        view(token).wrap(address, length);
        return token;
    }

    UnsafeBuffer view(long token) {
        return views[index(token)];
    }

    @Override
    public void retain(long token) {
        checkHandled(token);
        int index = index(token);
        UnsafeBuffer view = views[index];
        if (copies[index] == null) {
            copies[index] =
                    new UnsafeBuffer(BufferUtil.allocateDirectAligned(lengthMax, Long.BYTES));
        }
        copies[index].putBytes(0, view, 0, view.capacity());
        view.wrap(copies[index], 0, view.capacity());
        super.retain(token);
    }

    @Override
    public void free(long token) {
        view(token).wrap(0, 0);
        super.free(token);
    }
}
