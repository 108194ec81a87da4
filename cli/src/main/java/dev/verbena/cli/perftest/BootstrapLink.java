package dev.verbena.cli.perftest;

import dev.verbena.cli.terminal.Messages;
import java.io.IOException;

/** The way by which two programs meet that then measure. What is told is told in turns. */
interface BootstrapLink extends AutoCloseable {
    boolean isClient();

    /** From now on the other side may take as long as it likes, if it is there. */
    void beUnhurried() throws IOException;

    void write(byte[] bytes);

    /**
     * Exactly so many bytes.
     *
     * @throws Messages.Failure if they do not come
     */
    byte[] read(int length);

    /** The last word, and until the other side has gone, but not for long. */
    void part();

    /** Until the other side has gone, but not for long. */
    void awaitEnd();

    @Override
    void close() throws IOException;
}
