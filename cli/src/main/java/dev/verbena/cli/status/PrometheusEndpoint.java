package dev.verbena.cli.status;

import dev.verbena.agent.CountersFile;
import dev.verbena.cli.terminal.HostPort;
import io.prometheus.metrics.exporter.httpserver.HTTPServer;
import io.prometheus.metrics.model.registry.MultiCollector;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import io.prometheus.metrics.model.snapshots.Labels;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import io.prometheus.metrics.model.snapshots.PrometheusNaming;
import io.prometheus.metrics.model.snapshots.UnknownSnapshot;
import io.prometheus.metrics.model.snapshots.UnknownSnapshot.UnknownDataPointSnapshot;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.function.LongPredicate;

/**
 * Serves the counters of Verbena processes to Prometheus, over HTTP, at {@code /metrics}. Each
 * scrape reads the files in which processes keep their counters; the processes do not notice. A
 * counter's label is its name there: {@code dart master headers} is {@code
 * verbena_dart_master_headers}; labels that end in {@code ns} are seconds. Own threads.
 */
public final class PrometheusEndpoint implements AutoCloseable {
    private static final String PREFIX = "verbena_";
    private static final String NANOSECONDS = " ns";

    private final HTTPServer server;
    private final HostPort address;

    /** What one scrape has found: by name, then by the labels of a process. */
    private static final class Scrape {
        private final Map<String, String> help = new LinkedHashMap<>();
        private final Map<String, Map<Labels, Double>> values = new HashMap<>();

        void add(String label, Labels process, double value) {
            String name = name(label);
            help.putIfAbsent(name, "Counter '" + label + "' of a process.");
            values.computeIfAbsent(name, n -> new LinkedHashMap<>())
                    .merge(process, value, Double::sum);
        }

        MetricSnapshots snapshots() {
            MetricSnapshots.Builder all = MetricSnapshots.builder();
            help.forEach(
                    (name, text) -> {
                        UnknownSnapshot.Builder metric =
                                UnknownSnapshot.builder().name(name).help(text);
                        values.get(name)
                                .forEach(
                                        (process, value) ->
                                                metric.dataPoint(
                                                        UnknownDataPointSnapshot.builder()
                                                                .labels(process)
                                                                .value(value)
                                                                .build()));
                        all.metricSnapshot(metric.build());
                    });
            return all.build();
        }
    }

    private PrometheusEndpoint(HTTPServer server, String host) {
        this.server = server;
        this.address = new HostPort(host, server.getPort());
    }

    /**
     * Starts to serve.
     *
     * @param place port 0: any, see {@link #address}
     * @param job whose processes; null: of all jobs of this user
     * @param processes which of them, by process number
     * @throws IOException if it cannot listen there
     */
    public static PrometheusEndpoint open(HostPort place, String job, LongPredicate processes)
            throws IOException {
        PrometheusRegistry registry = new PrometheusRegistry();
        MultiCollector collector = () -> collect(job, processes);
        registry.register(collector);
        HTTPServer server =
                HTTPServer.builder()
                        .inetAddress(place.resolve().getAddress())
                        .port(place.port())
                        .registry(registry)
                        .buildAndStart();
        return new PrometheusEndpoint(server, place.host());
    }

    /** This process, and those that it has started. */
    public static boolean isOwn(long pid) {
        ProcessHandle self = ProcessHandle.current();
        return self.pid() == pid || self.descendants().anyMatch(child -> child.pid() == pid);
    }

    private static MetricSnapshots collect(String job, LongPredicate processes) {
        Scrape scrape = new Scrape();
        try {
            Jobs.forEach(
                    job,
                    (name, file) -> {
                        if (file.isAlive() && processes.test(file.pid())) {
                            add(scrape, name, file);
                        }
                    },
                    (path, error) -> {
                        // Being made, or of another version: the command 'status' tells.
                    });
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return scrape.snapshots();
    }

    private static void add(Scrape scrape, String job, CountersFile file) {
        Labels process =
                Labels.of(
                        "job_name",
                        job,
                        "pid",
                        Long.toString(file.pid()),
                        "role",
                        file.application());
        file.counters()
                .forEach(
                        (value, id, label) -> {
                            boolean isTime = label.endsWith(NANOSECONDS);
                            scrape.add(label, process, isTime ? value / 1e9 : value);
                        });
        scrape.add("errors reported", process, Jobs.errorCount(file));
    }

    /** As Prometheus has names: lower case, words joined by underscores, no ending of its own. */
    static String name(String label) {
        String text =
                label.endsWith(NANOSECONDS)
                        ? label.substring(0, label.length() - NANOSECONDS.length()) + " seconds"
                        : label;
        String words =
                text.replaceAll("([a-z0-9])([A-Z])", "$1_$2")
                        .toLowerCase(Locale.ROOT)
                        .replaceAll("[^a-z0-9]+", "_")
                        .replaceAll("^_|_$", "")
                        .replaceAll("_(count|sum|bucket|total|info|created)$", "");
        return PrometheusNaming.sanitizeMetricName(PREFIX + words);
    }

    /** Where it is served. */
    public String address() {
        return "http://" + address + "/metrics";
    }

    /** Ends it. */
    @Override
    public void close() {
        server.close();
    }
}
