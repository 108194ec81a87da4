package dev.verbena.cli.perftest;

import dev.verbena.cli.terminal.Messages;
import java.io.IOException;

/**
 * The connection over which both sides of a measurement exchange their keys and keep step. One side
 * writes while the other one reads.
 */
interface BootstrapLink extends AutoCloseable {
    boolean isClient();

    /** From now on a read has no time limit while the other side is connected. */
    void waitIndefinitely() throws IOException;

    void write(byte[] bytes);

    /**
     * Exactly so many bytes.
     *
     * @throws Messages.Failure if they do not arrive
     */
    byte[] read(int length);

    /** Says that this side is done, and waits some seconds until the other side has closed. */
    void part();

    /** Waits some seconds until the other side has closed. */
    void awaitEnd();

    @Override
    void close() throws IOException;
}
