package dev.verbena.sinks.duckdb.engine;

import dev.verbena.staging.sink.Sink;
import dev.verbena.staging.sink.SinkSession;
import dev.verbena.staging.sink.SqlTars;
import java.io.IOException;
import java.nio.file.Path;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Properties;
import java.util.concurrent.locks.ReentrantLock;
import org.duckdb.DuckDBConnection;

/** An open database. Its sessions write one at a time; queries go on meanwhile. */
public final class DuckDb implements Sink {
    private static final int SESSIONS_MAX = 4;

    private final DuckDBConnection connection;
    private final StagedRows rows;
    private final Path parquet;
    private final ReentrantLock writing = new ReentrantLock();

    /**
     * Opens it.
     *
     * @param parquet null: none
     */
    public DuckDb(Path file, Path parquet) throws IOException {
        this.parquet = parquet;
        try {
            connection =
                    DuckDBConnection.newConnection("jdbc:duckdb:" + file, false, new Properties());
            rows = new StagedRows(connection);
            try (Statement statement = connection.createStatement()) {
                statement.execute(SqlTars.CATALOGUE);
                if (parquet != null) {
                    statement.execute("SET allowed_directories = ['" + quoted(parquet) + "']");
                }
                // A query of somebody else reads and writes no other file.
                statement.execute("SET enable_external_access = false");
                statement.execute("SET lock_configuration = true");
            }
        } catch (SQLException e) {
            throw new IOException(e.getMessage(), e);
        } catch (IOException | RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new IOException(e);
        }
    }

    static String quoted(Path path) {
        return path.toString().replace("'", "''");
    }

    StagedRows rows() {
        return rows;
    }

    ReentrantLock writing() {
        return writing;
    }

    Path parquet() {
        return parquet;
    }

    @Override
    public int sessionsMax() {
        return SESSIONS_MAX;
    }

    @Override
    public boolean supportsCommands() {
        return true;
    }

    @Override
    public SinkSession open() throws IOException {
        try {
            return new DuckSession(this, connection.duplicate());
        } catch (SQLException e) {
            throw new IOException(e.getMessage(), e);
        }
    }

    @Override
    public void close() {
        try {
            connection.close();
        } catch (SQLException e) {
            // What was committed is in the file.
        }
    }
}
