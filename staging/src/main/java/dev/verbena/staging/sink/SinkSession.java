package dev.verbena.staging.sink;

import java.io.IOException;
import java.nio.channels.FileChannel;

/** A session with a sink. One thread; may wait. After an exception only {@link #close} follows. */
public interface SinkSession extends AutoCloseable {
    /**
     * Hands a dataset over. On return the sink has it.
     *
     * @param data borrowed: the dataset's bytes, from 0 to its length
     * @throws SinkRejectedException if the sink refuses it: it is not tried again. The session can
     *     still be used
     * @throws IOException if it could not be handed over now: it is tried again
     */
    void transfer(SinkDataset dataset, FileChannel data) throws IOException;

    /**
     * Runs a command in the sink's own language; its answer, unchanged.
     *
     * @throws SinkRejectedException with the sink's text, if the sink says that it failed
     * @throws IOException if the sink cannot be reached; whether it ran is unknown
     */
    String command(String text) throws IOException;

    @Override
    void close() throws IOException;
}
