package dev.verbena.savime.client;

import dev.verbena.savime.wire.StgStatus;
import java.util.function.Consumer;

/** Something that a user has asked for. Written by the engine that has it, read once it ended. */
public abstract class Task {
    private final Consumer<Task> ended;
    private long sequence;
    private int status = StgStatus.OK;
    private String text = "";

    /**
     * @param ended told on an I/O thread, once
     */
    protected Task(Consumer<Task> ended) {
        this.ended = ended;
    }

    /** What it is, for people. */
    public abstract String what();

    final void number(long number) {
        sequence = number;
    }

    /** Place in the order in which tasks were queued. */
    public final long sequence() {
        return sequence;
    }

    final void end(int how, String why) {
        status = how;
        text = why;
        ended.accept(this);
    }

    /** One of {@link StgStatus}. */
    public final int status() {
        return status;
    }

    /** The sink's text, or why it failed. */
    public final String text() {
        return text;
    }
}
