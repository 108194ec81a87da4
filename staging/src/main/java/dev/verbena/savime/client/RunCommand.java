package dev.verbena.savime.client;

import dev.verbena.savime.wire.StgFlags;
import java.util.function.Consumer;

/** A command for the sink. */
public final class RunCommand extends Task {
    private final String command;
    private final int flags;
    private final Upload text;

    /**
     * @param flags of RUN
     * @param text the dataset that is the text; null: the text travels itself
     */
    public RunCommand(String command, int flags, Upload text, Consumer<Task> ended) {
        super(ended);
        this.command = command;
        this.flags = flags;
        this.text = text;
    }

    @Override
    public String what() {
        return "command '" + command + "'";
    }

    public String command() {
        return command;
    }

    public int flags() {
        return flags;
    }

    boolean isImmediate() {
        return (flags & StgFlags.FLAG_IMMEDIATE) != 0;
    }

    /** The dataset that is the text; null: the text travels itself. */
    Upload textDataset() {
        return text;
    }
}
