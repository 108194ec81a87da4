package dev.verbena.sinks.duckdb;

import dev.verbena.staging.sink.Sink;
import dev.verbena.staging.sink.SinkSession;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * A database of DuckDB in a file, which no other process can open meanwhile. A variable is a table
 * of its name: {@code step}, {@code rank}, one index {@code i0}, {@code i1}, ... for each dimension
 * of the global array, and {@code value}. A dataset without metadata is a variable of its own name,
 * one dimension, step and rank 0.
 *
 * <p>A dataset is one transaction: its rows and its row in the table {@code verbena_piece}, whose
 * key is variable, step and rank. A second dataset of a key is refused, unless it may be the same
 * one sent again. {@code create_tar} makes a table with a column for each dimension and attribute,
 * which {@code load_subtar} fills in one transaction; other commands are SQL. Statements reach no
 * files but this one and those of the parquet folder. Thread-safe.
 */
public final class DuckDbSink implements Sink {
    private final Sink engine;

    /**
     * Opens the file, or makes it.
     *
     * @param parquet a folder, which is made: a step of a variable whose pieces are all there
     *     appears in it as {@code VARIABLE.STEP.parquet}, by a rename; null: none
     * @throws UncheckedIOException naming the file, if it cannot be opened
     */
    public DuckDbSink(Path file, Path parquet) {
        try {
            if (parquet != null) {
                Files.createDirectories(parquet);
            }
            engine =
                    DriverLoader.engine(
                            file.toAbsolutePath(), parquet == null ? null : parquet.toRealPath());
        } catch (IOException e) {
            throw new UncheckedIOException("sink " + file + ": " + e.getMessage(), e);
        }
    }

    @Override
    public int sessionsMax() {
        return engine.sessionsMax();
    }

    @Override
    public SinkSession open() throws IOException {
        return engine.open();
    }

    /** Closes the database. */
    @Override
    public void close() {
        engine.close();
    }
}
