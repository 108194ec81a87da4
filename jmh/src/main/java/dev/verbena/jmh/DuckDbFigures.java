package dev.verbena.jmh;

import dev.verbena.staging.sink.Sink;
import dev.verbena.staging.sink.SinkDataset;
import dev.verbena.staging.sink.SinkSession;
import dev.verbena.staging.sink.Sinks;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.DriverManager;
import java.sql.Statement;
import java.util.Arrays;
import java.util.Locale;
import org.duckdb.DuckDBAppender;
import org.duckdb.DuckDBConnection;

/**
 * Doubles into a file of DuckDB: by the sink, by DuckDB's appender, row by row, or by an {@code
 * INSERT} of rows that DuckDB makes. Each round is a table of its own, in one transaction. Prints a
 * median in millions of rows a second. Arguments: {@code sink}, {@code appender} or {@code sql}.
 */
public final class DuckDbFigures {
    private static final int ROWS = 4_000_000;
    private static final int WARM_UPS = 3;
    private static final int ROUNDS = 7;
    private static final String COLUMNS =
            " (step BIGINT NOT NULL, rank INTEGER NOT NULL, i0 BIGINT NOT NULL, value DOUBLE NOT NULL)";

    private DuckDbFigures() {}

    private interface Round {
        void run(String table) throws Exception;
    }

    private static double rate(Round round) throws Exception {
        double[] rates = new double[ROUNDS];
        for (int i = -WARM_UPS; i < ROUNDS; i++) {
            long beginNs = System.nanoTime();
            round.run("v" + (i + WARM_UPS));
            if (i >= 0) {
                rates[i] = ROWS * 1e6 / (System.nanoTime() - beginNs);
            }
        }
        Arrays.sort(rates);
        return rates[ROUNDS / 2];
    }

    private static double sink(Path folder) throws Exception {
        ByteBuffer values = ByteBuffer.allocate(8 * ROWS).order(ByteOrder.LITTLE_ENDIAN);
        for (int i = 0; i < ROWS; i++) {
            values.putDouble(Math.sin(i * 0.001));
        }
        Path staged = Files.write(folder.resolve("staged"), values.array());
        String uri = "duckdb:" + folder.resolve("sink.duckdb");
        try (Sink sink = Sinks.of(uri, DuckDbFigures.class.getClassLoader());
                SinkSession session = sink.open();
                FileChannel data = FileChannel.open(staged)) {
            return rate(
                    table ->
                            session.transfer(
                                    new SinkDataset(table, "double", 8L * ROWS, 8, null, false),
                                    data));
        }
    }

    private interface Filling {
        void fill(DuckDBConnection connection, String table) throws Exception;
    }

    /** Into tables as the sink makes them. */
    private static double plain(Path folder, Filling filling) throws Exception {
        String url = "jdbc:duckdb:" + folder.resolve("plain.duckdb");
        try (DuckDBConnection connection = (DuckDBConnection) DriverManager.getConnection(url)) {
            connection.setAutoCommit(false);
            return rate(
                    table -> {
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
            double value =
                    switch (arguments[0]) {
                        case "sink" -> sink(folder.path);
                        case "appender" -> plain(folder.path, DuckDbFigures::append);
                        case "sql" -> plain(folder.path, DuckDbFigures::insert);
                        default -> throw new IllegalArgumentException(arguments[0]);
                    };
            System.out.printf(Locale.ROOT, "\"value\": %.2f%n", value);
        }
    }
}
