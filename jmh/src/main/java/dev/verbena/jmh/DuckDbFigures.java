package dev.verbena.jmh;

import java.nio.file.Path;
import java.sql.DriverManager;
import java.sql.Statement;
import org.duckdb.DuckDBAppender;
import org.duckdb.DuckDBConnection;

/**
 * Doubles into a file of DuckDB: by the sink, by DuckDB's appender, row by row, or by an {@code
 * INSERT} of rows that DuckDB makes. Each round is a table of its own, in one transaction. Prints a
 * median in millions of rows a second. Arguments: {@code sink}, {@code appender} or {@code sql}.
 */
public final class DuckDbFigures {
    private static final int ROWS = 4_000_000;
    private static final TableFigures TABLES = new TableFigures(ROWS, 3, 7);
    private static final String COLUMNS =
            " (step BIGINT NOT NULL, rank INTEGER NOT NULL, i0 BIGINT NOT NULL, value DOUBLE NOT NULL)";

    private DuckDbFigures() {}

    private interface Filling {
        void fill(DuckDBConnection connection, String table) throws Exception;
    }

    /** Into tables as the sink makes them. */
    private static double plain(Path folder, Filling filling) throws Exception {
        String url = "jdbc:duckdb:" + folder.resolve("plain.duckdb");
        try (DuckDBConnection connection = (DuckDBConnection) DriverManager.getConnection(url)) {
            connection.setAutoCommit(false);
            return TABLES.rate(
                    number -> {
                        String table = "v" + number;
                        run(connection, "CREATE TABLE " + table + COLUMNS);
                        filling.fill(connection, table);
                        connection.commit();
                    });
        }
    }

    private static void run(DuckDBConnection connection, String sql) throws Exception {
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    private static void insert(DuckDBConnection connection, String table) throws Exception {
        run(
                connection,
                "INSERT INTO %s SELECT 0, 0, i, sin(i * 0.001) FROM range(%s) t(i)"
                        .formatted(table, ROWS));
    }

    private static void append(DuckDBConnection connection, String table) throws Exception {
        try (DuckDBAppender appender = connection.createAppender("main", table)) {
            for (int i = 0; i < ROWS; i++) {
                appender.beginRow();
                appender.append(0L);
                appender.append(0);
                appender.append((long) i);
                appender.append(Math.sin(i * 0.001));
                appender.endRow();
            }
        }
    }

    /** Prints one number. */
    public static void main(String[] arguments) throws Exception {
        try (TemporaryFolder folder = new TemporaryFolder("verbena-duckdb-")) {
            String uri = "duckdb:" + folder.path.resolve("sink.duckdb");
            double value =
                    switch (arguments[0]) {
                        case "sink" -> TABLES.sink(folder.path, uri);
                        case "appender" -> plain(folder.path, DuckDbFigures::append);
                        case "sql" -> plain(folder.path, DuckDbFigures::insert);
                        default -> throw new IllegalArgumentException(arguments[0]);
                    };
            Samples.print(value);
        }
    }
}
