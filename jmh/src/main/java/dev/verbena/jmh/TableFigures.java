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

/**
 * How fast rows get into tables of a database.
 *
 * @param rows of each table
 * @param warmUps tables before the measured ones
 * @param rounds tables that are measured, an odd number
 */
record TableFigures(int rows, int warmUps, int rounds) {
    /** Fills one table. */
    interface Round {
        void run(int number) throws Exception;
    }

    /** Thousands of rows a second, the median. */
    double rate(Round round) throws Exception {
        double[] rates = new double[rounds];
        for (int i = -warmUps; i < rounds; i++) {
            long beginNs = System.nanoTime();
            round.run(i + warmUps);
            if (i >= 0) {
                rates[i] = rows * 1e6 / (System.nanoTime() - beginNs);
            }
        }
        return Samples.median(rates);
    }

    /** As {@link #rate}, by a sink; the tables are v0, v1 and so on. */
    double sink(Path folder, String uri) throws Exception {
        ByteBuffer values = ByteBuffer.allocate(8 * rows).order(ByteOrder.LITTLE_ENDIAN);
        for (int i = 0; i < rows; i++) {
            values.putDouble(Math.sin(i * 0.001));
        }
        Path staged = Files.write(folder.resolve("staged"), values.array());
        try (Sink sink = Sinks.of(uri, TableFigures.class.getClassLoader());
                SinkSession session = sink.open();
                FileChannel data = FileChannel.open(staged)) {
            return rate(
                    number -> {
                        String table = "v" + number;
                        session.transfer(
                                new SinkDataset(table, "double", 8L * rows, 8, null, false), data);
                    });
        }
    }
}
