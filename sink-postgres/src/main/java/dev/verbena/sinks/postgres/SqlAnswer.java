package dev.verbena.sinks.postgres;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

/** What SQL answers, as text: rows in lines, columns separated by tabs, or a count of rows. */
final class SqlAnswer {
    private static final int LENGTH_MAX = 64 << 20;
    private static final int FETCHED = 1000;
    private static final int QUERY_SECONDS = 60;

    private SqlAnswer() {}

    /**
     * Runs it.
     *
     * @throws SQLException also for an answer of more than 64 Mi characters
     */
    static String of(Connection connection, String text) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.setFetchSize(FETCHED);
            if (!statement.execute(text)) {
                return Math.max(0, statement.getUpdateCount()) + " rows";
            }
            try (ResultSet rows = statement.getResultSet()) {
                return table(rows, Integer.MAX_VALUE, new StringBuilder());
            }
        }
    }

    /** Names of columns and at most so many rows of a query, in a transaction that reads only. */
    static String query(Connection connection, String text, int rowsMax) throws SQLException {
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
                return table(rows, rowsMax, out.append('\n'));
            }
        }
    }

    private static String table(ResultSet rows, int rowsMax, StringBuilder out)
            throws SQLException {
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
