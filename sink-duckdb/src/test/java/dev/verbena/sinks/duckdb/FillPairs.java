package dev.verbena.sinks.duckdb;

import dev.verbena.staging.metadata.PieceMetadata;
import dev.verbena.staging.sink.SinkDataset;
import dev.verbena.staging.sink.SinkSession;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Locale;
import java.util.Properties;
import org.duckdb.DuckDBAppender;
import org.duckdb.DuckDBConnection;

/**
 * Rows of a staged dataset into a file of DuckDB, by this sink and by the driver's row-wise
 * appender in turn. A program, {@code FillPairs [ROWS [PAIRS]]}, not a test: prints nanoseconds for
 * each row, medians of the pairs.
 */
final class FillPairs {
    private FillPairs() {}

    public static void main(String[] arguments) throws Exception {
        int rows = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 1_000_000;
        int pairs = arguments.length > 1 ? Integer.parseInt(arguments[1]) : 5;
        Path folder = Files.createTempDirectory("verbena-fill-");
        ByteBuffer values = ByteBuffer.allocate(8 * rows).order(ByteOrder.LITTLE_ENDIAN);
        for (int i = 0; i < rows; i++) {
            values.putDouble(Math.sin(i * 0.001));
        }
        Path staged = Files.write(folder.resolve("staged"), values.array());
        double[] sink = new double[pairs];
        double[] appender = new double[pairs];
        for (int i = 0; i < pairs; i++) {
            sink[i] = sink(folder.resolve("sink" + i), staged, rows);
            appender[i] = appender(folder.resolve("appender" + i), values, rows);
        }
        Arrays.sort(sink);
        Arrays.sort(appender);
        double fast = sink[pairs / 2];
        double slow = appender[pairs / 2];
        System.out.printf(
                Locale.ROOT,
                "sink %.0f ns, appender %.0f ns a row: %.2f times%n",
                fast,
                slow,
                slow / fast);
        try (var files = Files.list(folder)) {
            for (Path file : files.toList()) {
                Files.delete(file);
            }
        }
        Files.delete(folder);
    }

    private static double sink(Path file, Path staged, int rows) throws Exception {
        PieceMetadata piece =
                new PieceMetadata(
                        "v",
                        7,
                        0,
                        new long[] {rows / 1000, 1000},
                        new long[2],
                        new long[] {rows / 1000, 1000});
        DuckDbSink sink = new DuckDbSink(file, null);
        try (SinkSession session = sink.open();
                FileChannel data = FileChannel.open(staged)) {
            long begin = System.nanoTime();
            session.transfer(new SinkDataset("d", "double", 8L * rows, 8, piece, false), data);
            return (System.nanoTime() - begin) / (double) rows;
        } finally {
            sink.close();
        }
    }

    private static double appender(Path file, ByteBuffer values, int rows) throws Exception {
        try (DuckDBConnection connection =
                        DuckDBConnection.newConnection(
                                "jdbc:duckdb:" + file, false, new Properties());
                var statement = connection.createStatement()) {
            statement.execute(
                    "CREATE TABLE v (step bigint NOT NULL, rank integer NOT NULL, i0 bigint NOT"
                            + " NULL, i1 bigint NOT NULL, value double NOT NULL)");
            connection.setAutoCommit(false);
            long begin = System.nanoTime();
            try (DuckDBAppender appender = connection.createAppender("v")) {
                for (int i = 0; i < rows; i++) {
                    appender.beginRow();
                    appender.append(7L);
                    appender.append(0);
                    appender.append((long) (i / 1000));
                    appender.append((long) (i % 1000));
                    appender.append(values.getDouble(8 * i));
                    appender.endRow();
                }
            }
            connection.commit();
            return (System.nanoTime() - begin) / (double) rows;
        }
    }
}
