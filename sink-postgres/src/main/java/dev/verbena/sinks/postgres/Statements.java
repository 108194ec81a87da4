package dev.verbena.sinks.postgres;

import dev.verbena.staging.sink.SqlTars;
import dev.verbena.staging.sink.StagedPiece;
import java.io.IOException;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;

/** Statements of a session; failures have the database's as their cause. */
record Statements(Connection connection) implements SqlTars.Database {
    /** Two sessions that create one table at the same time would meet in the system's tables. */
    private static final long CREATION_LOCK = 0x766572_62656e61L;

    private static final int LENGTH_MAX = 64 << 20;
    private static final int FETCHED = 1000;
    private static final int QUERY_SECONDS = 60;

    @Override
    public List<String[]> query(String sql) throws IOException {
        try (Statement statement = connection.createStatement();
                ResultSet found = statement.executeQuery(sql)) {
            List<String[]> rows = new ArrayList<>();
            int columns = found.getMetaData().getColumnCount();
            while (found.next()) {
                String[] row = new String[columns];
                for (int i = 0; i < columns; i++) {
                    // An array is written {1,2}.
                    String text = found.getString(i + 1);
                    row[i] = text.matches("\\{[-0-9,]*}") ? text.replaceAll("[{}]", "") : text;
                }
                rows.add(row);
            }
            return rows;
        } catch (SQLException e) {
            throw new IOException(e.getMessage(), e);
        }
    }

    @Override
    public long update(String sql) throws IOException {
        try (Statement statement = connection.createStatement()) {
            return statement.executeUpdate(sql);
        } catch (SQLException e) {
            throw new IOException(e.getMessage(), e);
        }
    }

    void createCatalogue() throws IOException {
        update("SET client_min_messages = warning");
        create(SqlTars.CATALOGUE);
    }

    /** Creates the variable's table if there is none; one of other columns makes COPY fail. */
    void createTable(StagedPiece piece) throws IOException {
        String table = '"' + piece.variable() + '"';
        if (!query("SELECT 1 WHERE to_regclass('%s') IS NULL".formatted(table)).isEmpty()) {
            create("CREATE TABLE IF NOT EXISTS %s (%s)".formatted(table, SqlTars.columns(piece)));
        }
    }

    private void create(String sql) throws IOException {
        query("SELECT pg_advisory_xact_lock(" + CREATION_LOCK + ")");
        update(sql);
    }

    /**
     * What a command answers: rows, or how many have changed.
     *
     * @throws SQLException also for an answer of more than 64 Mi characters
     */
    String answer(String text) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.setFetchSize(FETCHED);
            if (!statement.execute(text)) {
                return Math.max(0, statement.getUpdateCount()) + " rows";
            }
            try (ResultSet rows = statement.getResultSet()) {
                return rows(rows, Integer.MAX_VALUE, new StringBuilder());
            }
        }
    }

    /** Names of columns and at most so many rows of a query, in a transaction that reads only. */
    String table(String text, int rowsMax) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute("SET TRANSACTION READ ONLY");
            statement.setQueryTimeout(QUERY_SECONDS);
            statement.setFetchSize(FETCHED);
            statement.setMaxRows(rowsMax + 1);
            try (ResultSet rows = statement.executeQuery(text)) {
                StringBuilder out = new StringBuilder();
                for (int i = 1; i <= rows.getMetaData().getColumnCount(); i++) {
                    out.append(i == 1 ? "" : "\t").append(rows.getMetaData().getColumnName(i));
                }
                return rows(rows, rowsMax, out.append('\n'));
            }
        }
    }

    /** Rows in lines, columns separated by tabs. */
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
                throw new SQLException("the answer is too long", "54000");
            }
        }
        return out.toString();
    }
}
