package dev.verbena.sinks.postgres;

import dev.verbena.staging.sink.SqlTars;
import java.io.IOException;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;

/** Statements of a session; failures have the database's as their cause. */
record SessionRows(Connection connection) implements SqlTars.Database {
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
}
