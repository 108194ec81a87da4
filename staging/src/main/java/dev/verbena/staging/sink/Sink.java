package dev.verbena.staging.sink;

import java.io.IOException;

/** Where staged datasets go. Thread-safe; sessions are used by one thread each. */
public interface Sink extends AutoCloseable {
    /** Sessions that may be open at a time, at least 1. */
    int sessionsMax();

    /**
     * Opens a session. May wait.
     *
     * @throws IOException if the sink cannot be reached now; the caller tries again later
     */
    SinkSession open() throws IOException;

    /**
     * Tells of what the sink itself notices: an upload that does not get on, a restart. Called
     * before the first session is opened. Most sinks notice neither.
     */
    default void watch(SinkWatch watch) {}

    /** Gives up what the sink itself holds; sessions are closed by those that opened them. */
    @Override
    default void close() {}
}
