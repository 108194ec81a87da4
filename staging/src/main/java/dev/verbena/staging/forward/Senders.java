package dev.verbena.staging.forward;

import java.util.function.Consumer;

/** Hand tasks to a sink, which may wait. Submitted and polled by one thread. */
public interface Senders extends AutoCloseable {
    /** Called, where a task has ended, when {@link #poll} has something to do. */
    void onReady(Runnable wakeup);

    /** Whether a sender is free. */
    boolean hasRoom();

    /** Tasks that have not been polled. */
    int inFlight();

    /** Tries it with a free sender. */
    void submit(SinkTask task);

    /** Hands over what has ended; how many there were. */
    int poll(Consumer<SinkTask> handler);

    /** How the sink is. Any thread. */
    SinkHealth health();

    /** Lets what is being sent end, and closes the sink. */
    @Override
    void close();
}
