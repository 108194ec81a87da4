package dev.verbena.jmh;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A program that has a turn in each round of {@code verbena bench}.
 *
 * @param name for messages
 * @param run runs it once
 */
record BenchProgram(String name, Turn.Program<List<BenchProgram.Reading>> run) {
    /** Of latencies, one way; nanoseconds. */
    static final String LATENCY = "ns";

    /** Of payload, 10^9 bytes a second. */
    static final String BANDWIDTH = "GB/s";

    /** Fields of what {@code verbena lat} prints, beside its latency; nanoseconds. */
    static final List<String> PERCENTILES =
            List.of("p50Ns", "p90Ns", "p99Ns", "p999Ns", "p99CorrectedNs", "p999CorrectedNs");

    private static final Pattern TAIL =
            Pattern.compile("(p999|p999Corrected)(Us|Ns)\": ?([-0-9.eE]+)");

    private static final Pattern OBJECT = Pattern.compile("\\{[^{}]*\\}");
    private static final Pattern FIELD =
            Pattern.compile("\"(\\w+)\": ?(?:\"([^\"]*)\"|([-0-9.eE]+))");

    /**
     * A figure.
     *
     * @param series whose it is, a line of the chart
     * @param bytes length of a transfer
     * @param figure {@link #LATENCY}, {@link #BANDWIDTH} or one of {@link #PERCENTILES}
     */
    record Reading(String series, int bytes, String figure, double value) {}

    /** What an object of a program's JSON says. */
    interface Reader {
        /** Adds what is to be kept of an object without objects in it. */
        void read(Map<String, String> fields, List<Reading> readings);
    }

    /** A program that prints several figures in one run. */
    static BenchProgram printing(Contestant contestant, Reader reader) {
        return new BenchProgram(
                contestant.name(), () -> readings(contestant.output(), contestant.name(), reader));
    }

    /** As {@link #printing}, of what was printed. */
    static List<Reading> readings(String output, String name, Reader reader) throws IOException {
        List<Reading> readings = new ArrayList<>();
        for (Map<String, String> fields : objects(output)) {
            reader.read(fields, readings);
        }
        if (readings.isEmpty()) {
            throw new IOException(name + ": no figure in: " + output.strip());
        }
        return readings;
    }

    /** Objects of JSON without objects in them. */
    static List<Map<String, String>> objects(String output) {
        List<Map<String, String>> objects = new ArrayList<>();
        Matcher object = OBJECT.matcher(output);
        while (object.find()) {
            Map<String, String> fields = new HashMap<>();
            Matcher field = FIELD.matcher(object.group());
            while (field.find()) {
                String number = field.group(3);
                fields.put(field.group(1), number == null ? field.group(2) : number);
            }
            objects.add(fields);
        }
        return objects;
    }

    /** What {@code verbena lat} prints. */
    static Reader latencies(String series) {
        return (fields, readings) -> {
            int bytes = Integer.parseInt(fields.get("bytes"));
            add(readings, series, bytes, LATENCY, fields.get("batchMedianNs"), 1);
            for (String percentile : PERCENTILES) {
                add(readings, series, bytes, percentile, fields.get(percentile), 1);
            }
        };
    }

    /** What {@code verbena bw} prints. */
    static Reader bandwidths(String series) {
        return (fields, readings) -> {
            int bytes = Integer.parseInt(fields.get("bytes"));
            add(readings, series, bytes, BANDWIDTH, fields.get("medianMBps"), 1e-3);
        };
    }

    /**
     * What {@code softnic-bench} prints.
     *
     * @param series by its word for who did it
     */
    static Reader softnic(Map<String, String> series) {
        return (fields, readings) -> {
            String name = series.get(fields.get("impl"));
            if (name != null) {
                int bytes = Integer.parseInt(fields.get("size"));
                boolean isRate = fields.get("metric").equals("Mop/s");
                String figure = fields.get("metric").equals(LATENCY) ? LATENCY : BANDWIDTH;
                add(readings, name, bytes, figure, fields.get("value"), isRate ? bytes * 1e-3 : 1);
                if (fields.containsKey("p999Ns")) {
                    add(readings, name, bytes, "p999Ns", fields.get("p999Ns"), 1);
                }
            }
        };
    }

    private static void add(
            List<Reading> readings,
            String series,
            int bytes,
            String figure,
            String value,
            double scale) {
        readings.add(new Reading(series, bytes, figure, Double.parseDouble(value) * scale));
    }

    /**
     * A program that is run once for each length. Of several settings of a length the one that is
     * the best when it has its first turn is kept.
     */
    static BenchProgram single(
            String series, String figure, Map<Integer, List<Contestant>> settings) {
        Map<Integer, List<Contestant>> bySize = new LinkedHashMap<>(settings);
        Map<Integer, Contestant> chosen = new HashMap<>();
        return new BenchProgram(
                series,
                () -> {
                    List<Reading> readings = new ArrayList<>();
                    for (Map.Entry<Integer, List<Contestant>> entry : bySize.entrySet()) {
                        int bytes = entry.getKey();
                        if (!chosen.containsKey(bytes)) {
                            chosen.put(bytes, best(entry.getValue(), figure.equals(LATENCY)));
                        }
                        String output = chosen.get(bytes).output();
                        double value = chosen.get(bytes).number(output);
                        readings.add(new Reading(series, bytes, figure, value));
                        addTail(readings, series, bytes, output);
                    }
                    return readings;
                });
    }

    /** Percentiles, of a program that prints them. */
    private static void addTail(List<Reading> readings, String series, int bytes, String output) {
        Matcher tail = TAIL.matcher(output);
        while (tail.find()) {
            double scale = tail.group(2).equals("Us") ? 1e3 : 1;
            add(readings, series, bytes, tail.group(1) + "Ns", tail.group(3), scale);
        }
    }

    private static Contestant best(List<Contestant> settings, boolean isLess)
            throws IOException, InterruptedException {
        return settings.get(settings.size() == 1 ? 0 : Contestants.best(settings, 1, isLess));
    }

    /** As {@link #single(String, String, Map)}, of one length. */
    static BenchProgram single(String series, String figure, int bytes, List<Contestant> settings) {
        return single(series, figure, Map.of(bytes, settings));
    }
}
