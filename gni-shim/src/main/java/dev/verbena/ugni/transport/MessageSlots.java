package dev.verbena.ugni.transport;

import org.agrona.BufferUtil;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * Messages that a handler has or has retained, by token: index and generation, never 0. A message
 * is shown where it lies in its mailbox; short messages must be released in order, so one that is
 * retained is copied, and the view that the handler got shows the copy from then on. One thread.
 */
final class MessageSlots {
    private static final int FREE = 0;
    private static final int HANDLED = 1;
    private static final int RETAINED = 2;
    private static final int HALF = 32;
    private static final int NONE = -1;

    private final UnsafeBuffer[] views;
    private final UnsafeBuffer[] copies;
    private final int[] connections;
    private final int[] generations;
    private final int[] nextFree;
    private final byte[] states;
    private final int lengthMax;
    private int firstFree;

    MessageSlots(int count, int lengthMax) {
        views = new UnsafeBuffer[count];
        copies = new UnsafeBuffer[count];
        connections = new int[count];
        generations = new int[count];
        nextFree = new int[count];
        states = new byte[count];
        this.lengthMax = lengthMax;
        for (int i = 0; i < count; i++) {
            views[i] = new UnsafeBuffer(0, 0);
            nextFree[i] = i + 1 < count ? i + 1 : NONE;
        }
    }

    boolean isFull() {
        return firstFree == NONE;
    }

    /** A slot for a message that a handler is about to get. */
    long take(long address, int length, int connection) {
        int index = firstFree;
        firstFree = nextFree[index];
        views[index].wrap(address, length);
        connections[index] = connection;
        states[index] = HANDLED;
        generations[index] = generations[index] + 1 & Integer.MAX_VALUE;
        return (long) generations[index] << HALF | index;
    }

    UnsafeBuffer view(long token) {
        return views[(int) token];
    }

    void retain(long token) {
        int index = index(token);
        if (states[index] != HANDLED) {
            throw misused("retain", token);
        }
        UnsafeBuffer view = views[index];
        if (copies[index] == null) {
            copies[index] =
                    new UnsafeBuffer(BufferUtil.allocateDirectAligned(lengthMax, Long.BYTES));
        }
        copies[index].putBytes(0, view, 0, view.capacity());
        view.wrap(copies[index], 0, view.capacity());
        states[index] = RETAINED;
    }

    /** The handler has returned: true if the message is to be released now. */
    boolean isToBeReleased(long token) {
        int index = (int) token;
        return states[index] == HANDLED && generations[index] == (int) (token >>> HALF);
    }

    /** Checks that the token is of a retained message. */
    void checkRetained(long token) {
        if (states[index(token)] != RETAINED) {
            throw misused("release", token);
        }
    }

    int connection(long token) {
        return connections[(int) token];
    }

    void free(long token) {
        int index = (int) token;
        states[index] = FREE;
        views[index].wrap(0, 0);
        nextFree[index] = firstFree;
        firstFree = index;
    }

    private int index(long token) {
        int index = (int) token;
        if (index < 0
                || index >= states.length
                || states[index] == FREE
                || generations[index] != (int) (token >>> HALF)) {
            throw misused("use", token);
        }
        return index;
    }

    private static IllegalStateException misused(String what, long token) {
        return new IllegalStateException(
                what + ": 0x" + Long.toHexString(token) + " is not the token of such a message");
    }
}
