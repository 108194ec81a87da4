package dev.verbena.sinks.duckdb.engine;

import dev.verbena.staging.sink.SinkRejectedException;
import dev.verbena.staging.sink.SqlTars;
import java.io.IOException;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;

/** Statements of a session. One thread. */
final class Statements implements SqlTars.Database {
    private static final int LENGTH_MAX = 64 << 20;
    private static final int QUERY_SECONDS = 60;

    private final Connection connection;

    Statements(Connection connection) {
        this.connection = connection;
    }

    /**
     * Whether trying it again may help is in the words that a failure begins with; those of a fatal
     * error, which lasts until the database is opened again, come anywhere.
     */
    static IOException failure(SQLException e) {
        String text = e.getMessage() == null ? e.toString() : e.getMessage();
        boolean isPassing =
                text.matches("(?s)(IO|Out of Memory|TransactionContext) Error.*")
                        || text.contains("FATAL Error")
                        || text.contains("has been invalidated");
        return isPassing ? new IOException(text, e) : new SinkRejectedException(text);
    }

    @Override
    public List<String[]> query(String sql) throws IOException {
        try (Statement statement = connection.createStatement();
                ResultSet found = statement.executeQuery(sql)) {
            List<String[]> rows = new ArrayList<>();
            int columns = found.getMetaData().getColumnCount();
            while (found.next()) {
                String[] row = new String[columns];
                for (int i = 0; i < columns; i++) {
                    // An array is written [1, 2].
                    String text = found.getString(i + 1);
                    row[i] =
                            text.matches("\\[[-0-9, ]*]") ? text.replaceAll("[\\[\\] ]", "") : text;
                }
                rows.add(row);
            }
            return rows;
        } catch (SQLException e) {
            throw failure(e);
        }
    }

    @Override
    public long update(String sql) throws IOException {
        try (Statement statement = connection.createStatement()) {
            return statement.executeUpdate(sql);
        } catch (SQLException e) {
            throw failure(e);
        }
    }

    /** What a command answers: rows, or how many have changed. */
    String answer(String text) throws IOException {
        try (Statement statement = connection.createStatement()) {
            if (!statement.execute(text)) {
                return Math.max(0, statement.getUpdateCount()) + " rows";
            }
            try (ResultSet rows = statement.getResultSet()) {
                return rows(rows, Integer.MAX_VALUE, new StringBuilder());
            }
        } catch (SQLException e) {
            throw failure(e);
        }
    }

    void beginReadOnly() throws IOException {
        try (Statement statement = connection.createStatement()) {
            connection.setAutoCommit(true);
            statement.execute("BEGIN TRANSACTION READ ONLY");
        } catch (SQLException e) {
            throw failure(e);
        }
    }

    void endReadOnly() throws IOException {
        try (Statement statement = connection.createStatement()) {
            try {
                statement.execute("ROLLBACK");
            } finally {
                connection.setAutoCommit(false);
            }
        } catch (SQLException e) {
            throw new IOException(e.getMessage(), e);
        }
    }

    /** Names of columns, then rows, at most so many. */
    String table(String sql, int rowsMax) throws IOException {
        // One statement only: another could end the transaction that lets it read only.
        if (sql.indexOf(';') >= 0) {
            throw new SinkRejectedException("a query is one statement, without a semicolon");
        }
        try (Statement statement = connection.createStatement()) {
            statement.setQueryTimeout(QUERY_SECONDS);
            try (ResultSet rows =
                    statement.executeQuery(
                            "SELECT * FROM (" + sql + "\n) LIMIT " + (rowsMax + 1L))) {
                StringBuilder out = new StringBuilder();
                for (int i = 1; i <= rows.getMetaData().getColumnCount(); i++) {
                    out.append(i == 1 ? "" : "\t").append(rows.getMetaData().getColumnName(i));
                }
                return rows(rows, rowsMax, out.append('\n'));
            }
        } catch (SQLException e) {
            throw failure(e);
        }
    }

    private static String rows(ResultSet rows, int rowsMax, StringBuilder out) throws SQLException {
        int columns = rows.getMetaData().getColumnCount();
        for (int row = 0; rows.next(); row++) {
            if (row == rowsMax) {
                return out.append("...\n").toString();
            }
            for (int i = 1; i <= columns; i++) {
                String value = rows.getString(i);
                out.append(i == 1 ? "" : "\t").append(value == null ? "" : value);
            }
            out.append('\n');
            if (out.length() > LENGTH_MAX) {
                throw new SQLException("the answer is too long");
            }
        }
        return out.toString();
    }
}
