package dev.verbena.savime.client;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.verbena.savime.wire.StgFlags;
import dev.verbena.savime.wire.StgFlyweight;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/** The text of a command's result, out of one or more messages. */
final class RunAnswer {
    private static final int LENGTH_MAX = 1 << 28;

    final RunCommand command;
    private final String failed;
    private byte[] text;
    private int filled;
    boolean isComplete;

    /**
     * @param failed names of datasets before it that failed, as the client knows; may be empty
     */
    RunAnswer(RunCommand command, String failed) {
        this.command = command;
        this.failed = failed;
    }

    /**
     * Adds a message's part.
     *
     * @throws IllegalArgumentException if the parts do not fit together
     */
    void add(StgFlyweight message) {
        int total = message.totalTextLength();
        int count = message.runTextLength();
        if (text == null) {
            if (total < 0 || total > LENGTH_MAX) {
                throw new IllegalArgumentException("a result of " + total + " bytes");
            }
            text = new byte[total];
        }
        if (count < 0 || count > text.length - filled) {
            throw new IllegalArgumentException("a result is longer than announced");
        }
        isComplete = (message.flags() & StgFlags.FLAG_MORE) == 0;
        if (count == 0 && !isComplete) {
            throw new IllegalArgumentException("a part of a result is empty");
        }
        message.copyText(text, filled);
        filled += count;
    }

    String text() {
        return new String(text, 0, filled, UTF_8);
    }

    /** Names of the datasets before it that failed, as server and client know. */
    String failedBefore() {
        Set<String> names = new LinkedHashSet<>(List.of((failed + ", " + text()).split(", ")));
        names.remove("");
        return String.join(", ", names);
    }
}
