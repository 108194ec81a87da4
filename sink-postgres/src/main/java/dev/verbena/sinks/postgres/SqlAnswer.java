package dev.verbena.sinks.postgres;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

/** What SQL answers, as text: rows in lines, columns separated by tabs, or a count of rows. */
final class SqlAnswer {
    private static final int LENGTH_MAX = 64 << 20;
    private static final int FETCHED = 1000;

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
                return table(rows);
            }
        }
    }

    private static String table(ResultSet rows) throws SQLException {
        int columns = rows.getMetaData().getColumnCount();
        StringBuilder out = new StringBuilder();
        while (rows.next()) {
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
