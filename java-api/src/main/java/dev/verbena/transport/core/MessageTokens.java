package dev.verbena.transport.core;

/**
 * Tokens of the messages that a handler has or has retained: index of a slot and generation, never
 * 0, so that an old token is recognised. A provider keeps what else belongs to a slot by its index.
 * Allocated once. One thread.
 */
public class MessageTokens {
    private static final int FREE = 0;
    private static final int HANDLED = 1;
    private static final int RETAINED = 2;
    private static final int HALF = 32;
    private static final int NONE = -1;

    private final int[] connections;
    private final int[] generations;
    private final int[] nextFree;
    private final byte[] states;
    private int firstFree;

    /** For so many messages at the same time; at least one. */
    public MessageTokens(int count) {
        connections = new int[count];
        generations = new int[count];
        nextFree = new int[count];
        states = new byte[count];
        for (int i = 0; i < count; i++) {
            nextFree[i] = i + 1 < count ? i + 1 : NONE;
        }
    }

    /** Whether every slot is taken. */
    public final boolean isFull() {
        return firstFree == NONE;
    }

    /**
     * A slot for a message that a handler is about to get; not if {@link #isFull}.
     *
     * @param connection handle of the connection that it came by
     * @return its token
     */
    protected final long take(int connection) {
        int index = firstFree;
        firstFree = nextFree[index];
        connections[index] = connection;
        states[index] = HANDLED;
        generations[index] = generations[index] + 1 & Integer.MAX_VALUE;
        return (long) generations[index] << HALF | index;
    }

    /** The slot's index. */
    protected static int index(long token) {
        return (int) token;
    }

    /**
     * The message stays after its handler has returned.
     *
     * @throws IllegalStateException as {@link #checkHandled}
     */
    public void retain(long token) {
        checkHandled(token);
        states[index(token)] = RETAINED;
    }

    /**
     * Checks that the token is of the message that a handler has.
     *
     * @throws IllegalStateException if it is of no message, or of one that is retained already
     */
    public final void checkHandled(long token) {
        if (stateOf(token) != HANDLED) {
            throw misused("retain", token);
        }
    }

    /** The handler has returned: true if the message is to be released now. */
    public final boolean isToBeReleased(long token) {
        int index = index(token);
        return states[index] == HANDLED && generations[index] == (int) (token >>> HALF);
    }

    /**
     * Checks that the token is of a retained message.
     *
     * @throws IllegalStateException if it is not
     */
    public final void checkRetained(long token) {
        if (stateOf(token) != RETAINED) {
            throw misused("release", token);
        }
    }

    /** Handle of the connection by which the message came. */
    public final int connection(long token) {
        return connections[index(token)];
    }

    /** The slot may be taken again; the token is of no message from now on. */
    public void free(long token) {
        int index = index(token);
        states[index] = FREE;
        nextFree[index] = firstFree;
        firstFree = index;
    }

    private int stateOf(long token) {
        int index = index(token);
        if (index < 0
                || index >= states.length
                || states[index] == FREE
                || generations[index] != (int) (token >>> HALF)) {
            throw misused("use", token);
        }
        return states[index];
    }

    private static IllegalStateException misused(String what, long token) {
        return new IllegalStateException(
                what + ": 0x" + Long.toHexString(token) + " is not the token of such a message");
    }
}
