package dev.verbena.sinks.duckdb.engine;

import dev.verbena.staging.sink.Sink;
import dev.verbena.staging.sink.SinkSession;
import dev.verbena.staging.sink.SqlTars;
import java.io.IOException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Properties;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import org.duckdb.DuckDBConnection;

/** An open database. Its sessions write one at a time; queries go on meanwhile. */
public final class DuckDb implements Sink {
    private static final int SESSIONS_MAX = 4;

    private final Path file;
    private final Path parquet;
    private final StagedRows rows = new StagedRows();
    private final ReentrantLock writing = new ReentrantLock();
    private final AtomicInteger sessions = new AtomicInteger();
    private DuckDBConnection connection;
    private boolean isClosed;

    /**
     * Opens it.
     *
     * @param parquet null: none
     */
    public DuckDb(Path file, Path parquet) throws IOException {
        this.file = file;
        this.parquet = parquet;
        connection = connect();
    }

    private DuckDBConnection connect() throws IOException {
        try {
            DuckDBConnection fresh =
                    DuckDBConnection.newConnection("jdbc:duckdb:" + file, false, new Properties());
            try {
                prepare(fresh);
                return fresh;
            } catch (SQLException | RuntimeException e) {
                close(fresh);
                throw e;
            }
        } catch (RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new IOException(e.getMessage(), e);
        }
    }

    private void prepare(DuckDBConnection fresh) throws SQLException {
        rows.register(fresh);
        try (Statement statement = fresh.createStatement()) {
            statement.execute(SqlTars.CATALOGUE);
            if (parquet != null) {
                statement.execute("SET allowed_directories = ['" + quoted(parquet) + "']");
            }
            // A query of somebody else reads and writes no other file.
            statement.execute("SET enable_external_access = false");
            statement.execute("SET lock_configuration = true");
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
    public synchronized SinkSession open() throws IOException {
        if (isClosed) {
            throw new IOException("the database " + file + " is closed");
        }
        String failure = failure();
        if (failure != null) {
            reopen(failure);
        }
        try {
            Connection own = connection.duplicate();
            try {
                DuckSession session = new DuckSession(this, own);
                sessions.incrementAndGet();
                return session;
            } catch (SQLException | RuntimeException e) {
                close(own);
                throw e;
            }
        } catch (SQLException e) {
            throw new IOException(e.getMessage(), e);
        }
    }

    /** Why the database does nothing any more; null: it does. */
    private String failure() {
        try (Statement statement = connection.createStatement()) {
            statement.execute("SELECT 1");
            return null;
        } catch (SQLException e) {
            return e.getMessage();
        }
    }

    /** After a fatal error the database goes on only if none of its connections is left. */
    private void reopen(String failure) throws IOException {
        close(connection);
        if (sessions.get() > 0) {
            throw new IOException(
                    "the database " + file + " is opened again once its sessions end: " + failure);
        }
        connection = connect();
    }

    /** A session has closed its connection. */
    void ended() {
        sessions.decrementAndGet();
    }

    @Override
    public synchronized void close() {
        isClosed = true;
        close(connection);
    }

    private static void close(Connection of) {
        try {
            of.close();
        } catch (SQLException e) {
            // What was committed is in the file.
        }
    }
}
