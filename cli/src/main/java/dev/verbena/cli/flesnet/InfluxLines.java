package dev.verbena.cli.flesnet;

import dev.verbena.flesnet.ComputeStatistics;
import dev.verbena.flesnet.InputStatistics;
import java.io.IOException;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * Points in InfluxDB's line protocol, once a second, with the measurements and fields that today's
 * FLESnet has: {@code stserver_status} of inputs, {@code tsbuilder_status} of compute nodes. One
 * thread.
 */
final class InfluxLines implements AutoCloseable {
    private static final long PERIOD_NS = 1_000_000_000L;

    private final Writer out;
    private long nextNs = System.nanoTime();

    /** Appends to this file; null: writes nothing. */
    InfluxLines(Path file) throws IOException {
        out =
                file == null
                        ? null
                        : Files.newBufferedWriter(
                                file, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
    }

    private boolean isDue() {
        return out != null && System.nanoTime() - nextNs >= 0;
    }

    /** A point of an input, if one is due. */
    void write(int input, InputStatistics statistics) throws IOException {
        if (isDue()) {
            line(
                    ("stserver_status,host=input%s timeslice_count=%si,component_count=%si,"
                                    + "data_bytes=%si,microslice_dropped_count=%si")
                            .formatted(
                                    input,
                                    statistics.timeslices(),
                                    statistics.components(),
                                    statistics.payloadBytes(),
                                    statistics.droppedMicroslices()));
        }
    }

    /** A point of a compute node, if one is due. */
    void write(int compute, ComputeStatistics statistics) throws IOException {
        if (isDue()) {
            line(
                    ("tsbuilder_status,host=compute%s timeslice_count=%si,component_count=%si,"
                                    + "byte_count=%si,timeslice_incomplete_count=%si")
                            .formatted(
                                    compute,
                                    statistics.timeslices(),
                                    statistics.components(),
                                    statistics.bytes(),
                                    statistics.incompleteTimeslices()));
        }
    }

    private void line(String point) throws IOException {
        nextNs += PERIOD_NS;
        out.write(point + " " + System.currentTimeMillis() + "000000\n");
        out.flush();
    }

    @Override
    public void close() throws IOException {
        if (out != null) {
            out.close();
        }
    }
}
