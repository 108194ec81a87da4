package dev.verbena.cli.transfer;

import java.lang.invoke.VarHandle;
import org.agrona.concurrent.UnsafeBuffer;

/** Looks at the marks that the other side of a measurement puts. One thread. */
final class MarkWatch {
    private static final int LOOKS_PER_POLL = 1000;

    private final UnsafeBuffer inbox;
    private final int looksPerPoll;
    private boolean isFencing;

    /**
     * Of an inbox.
     *
     * @param isBypassing a mark is there without a poll
     */
    MarkWatch(UnsafeBuffer inbox, boolean isBypassing) {
        this.inbox = inbox;
        this.looksPerPoll = isBypassing ? LOOKS_PER_POLL : 0;
    }

    boolean isBypassing() {
        return looksPerPoll > 0;
    }

    /** As {@link PerfEndpoint#fence}. */
    void fence(boolean isWanted) {
        isFencing = isWanted;
    }

    /** Looks some times; whether the last byte has this value. */
    boolean isSeen(int length, byte value) {
        for (int i = 0; i < looksPerPoll; i++) {
            if (isFencing) {
                VarHandle.fullFence();
            } else {
                Thread.onSpinWait();
            }
            if (isThere(length, value)) {
                return true;
            }
        }
        return isThere(length, value);
    }

    private boolean isThere(int length, byte value) {
        return inbox.getByteVolatile(length - 1) == value;
    }

    /** Before a round, so that no mark of another one is taken for its own. */
    void clear(int length) {
        inbox.putByteVolatile(length - 1, (byte) 0);
    }
}
