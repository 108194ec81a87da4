package dev.verbena.savime.client;

import java.util.function.Consumer;

/** A command for the sink. */
public final class RunCommand extends Task {
    private final String command;
    private final int flags;
    private final long textDataset;

    /**
     * @param flags of RUN
     * @param textDataset number of the dataset that is the text; 0: the text travels itself
     */
    public RunCommand(String command, int flags, long textDataset, Consumer<Task> ended) {
        super(ended);
        this.command = command;
        this.flags = flags;
        this.textDataset = textDataset;
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

    public long textDataset() {
        return textDataset;
    }
}
