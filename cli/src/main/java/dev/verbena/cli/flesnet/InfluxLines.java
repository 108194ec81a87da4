package dev.verbena.cli.flesnet;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.verbena.flesnet.ComputeStatistics;
import dev.verbena.flesnet.InputStatistics;
import java.io.IOException;
import java.io.OutputStream;
import java.net.HttpURLConnection;
import java.net.URI;
import java.net.URL;
import java.net.URLEncoder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.agrona.ErrorHandler;

/**
 * Points in InfluxDB's line protocol, once a second, with the measurements and fields that today's
 * FLESnet has: {@code stserver_status} of inputs, {@code tsbuilder_status} of compute nodes. One
 * thread, which may wait for a server: never an engine's.
 */
final class InfluxLines implements AutoCloseable {
    private static final long PERIOD_NS = 1_000_000_000L;
    private static final int TIMEOUT_MS = 2000;

    /** Unbuffered: what a full disk refuses is not kept. */
    private final OutputStream out;

    private final String sink;
    private final URL url;
    private final ErrorHandler errors;
    private boolean isReported;
    private long nextNs = System.nanoTime();

    /**
     * To a file or a server.
     *
     * @param sink {@code FILE} or {@code file:FILE}, which is appended to; {@code
     *     influx1:HOST:PORT:DATABASE}; or the whole address of a server, {@code http://...}; null:
     *     nothing is written
     * @param errors gets the first point that the sink refused; the run goes on
     * @throws IllegalArgumentException if it is none of these
     */
    InfluxLines(String sink, ErrorHandler errors) throws IOException {
        this.sink = sink;
        this.errors = errors;
        url = sink == null ? null : server(sink);
        out =
                sink == null || url != null
                        ? null
                        : Files.newOutputStream(
                                Path.of(sink.replaceFirst("^file:", "")),
                                StandardOpenOption.CREATE,
                                StandardOpenOption.APPEND);
    }

    private static URL server(String sink) throws IOException {
        if (sink.startsWith("http://") || sink.startsWith("https://")) {
            return checked(sink, URI.create(sink).toURL());
        }
        if (!sink.startsWith("influx1:")) {
            return null;
        }
        String[] parts = sink.split(":");
        if (parts.length != 4 || !parts[2].matches("[0-9]+")) {
            throw new IllegalArgumentException("'" + sink + "' is not influx1:HOST:PORT:DATABASE");
        }
        String database = URLEncoder.encode(parts[3], UTF_8);
        String place = "http://" + parts[1] + ":" + parts[2] + "/write?db=" + database;
        return checked(sink, URI.create(place).toURL());
    }

    private static URL checked(String sink, URL server) {
        if (server.getHost().isEmpty() || server.getPort() > 65_535) {
            throw new IllegalArgumentException("'" + sink + "' names no host and port");
        }
        return server;
    }

    private boolean isDue() {
        return (out != null || url != null) && System.nanoTime() - nextNs >= 0;
    }

    /** A point of an input, if one is due. */
    void write(int input, InputStatistics statistics) {
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
    void write(int compute, ComputeStatistics statistics) {
        if (isDue()) {
            line(
                    ("tsbuilder_status,host=compute%s timeslice_count=%si,component_count=%si,"
                                    + "byte_count=%si,timeslice_incomplete_count=%si,"
                                    + "timeslices_allocated=%si")
                            .formatted(
                                    compute,
                                    statistics.timeslices(),
                                    statistics.components(),
                                    statistics.bytes(),
                                    statistics.incompleteTimeslices(),
                                    Math.max(0, statistics.timeslices() - statistics.released())));
        }
    }

    private void line(String point) {
        byte[] text = (point + " " + System.currentTimeMillis() + "000000\n").getBytes(UTF_8);
        try {
            if (url != null) {
                post(text);
            } else {
                out.write(text);
            }
        } catch (IOException e) {
            if (!isReported) {
                isReported = true;
                errors.onError(new IOException("no points to " + sink + ": " + e.getMessage(), e));
            }
        }
        nextNs = System.nanoTime() + PERIOD_NS;
    }

    private void post(byte[] text) throws IOException {
        HttpURLConnection connection = (HttpURLConnection) url.openConnection();
        connection.setConnectTimeout(TIMEOUT_MS);
        connection.setReadTimeout(TIMEOUT_MS);
        connection.setRequestMethod("POST");
        connection.setDoOutput(true);
        connection.setRequestProperty("Content-Type", "text/plain; charset=utf-8");
        try (OutputStream body = connection.getOutputStream()) {
            body.write(text);
        }
        int code = connection.getResponseCode();
        if (code / 100 != 2) {
            connection.disconnect(); // its answer has a body, which nobody reads
            throw new IOException("HTTP status " + code);
        }
    }

    @Override
    public void close() throws IOException {
        if (out != null) {
            out.close();
        }
    }
}
