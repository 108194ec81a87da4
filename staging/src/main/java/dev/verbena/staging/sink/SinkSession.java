package dev.verbena.staging.sink;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.util.List;

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
     * Hands over several datasets, the pieces of a step for example: all or none of them where the
     * sink has transactions, one after the other where it has none.
     *
     * @param data for each dataset, as of {@link #transfer}
     * @throws SinkRejectedException if the sink refuses one; where it has no transactions it may
     *     have those before
     * @throws IOException if they could not be handed over now
     */
    default void transferAll(List<SinkDataset> datasets, List<FileChannel> data)
            throws IOException {
        for (int i = 0; i < datasets.size(); i++) {
            transfer(datasets.get(i), data.get(i));
        }
    }

    /**
     * Runs a command in the sink's own language; its answer, unchanged.
     *
     * @throws SinkRejectedException with the sink's text, if the sink says that it failed
     * @throws IOException if the sink cannot be reached; whether it ran is unknown
     */
    String command(String text) throws IOException;

    /**
     * Makes an array; its answer. A sink that does not know what arrays are is given the command.
     *
     * @param command as {@link TarText#createTar} reads it
     * @throws SinkRejectedException if it cannot be made: there is one of its name, for example
     * @throws IOException if the sink cannot be reached; whether it was made is unknown
     */
    default String createTar(String command) throws IOException {
        return command(command);
    }

    /**
     * Fills a region of an array from datasets that the sink has; visible as a whole or not at all.
     *
     * @param command as {@link TarText#loadSubtar} reads it
     * @throws SinkRejectedException if it overlaps another, or something does not fit
     * @throws IOException if the sink cannot be reached; whether it was loaded is unknown
     */
    default String loadSubtar(String command) throws IOException {
        return command(command);
    }

    /**
     * Rows of a query that changes nothing: a line of the columns' names, one for each row, columns
     * divided by tabs; a line {@code ...} if there are more.
     *
     * @param text one statement, without a semicolon
     * @param rowsMax 1 or more
     * @throws SinkRejectedException with the sink's text
     * @throws IOException if the sink cannot be reached
     */
    default String query(String text, int rowsMax) throws IOException {
        throw new SinkRejectedException("this sink answers no queries");
    }

    @Override
    void close() throws IOException;
}
