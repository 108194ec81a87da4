package dev.verbena.cli.stage.experiment;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToDoubleFunction;

/** One point of a figure, and what was measured at it. One thread. */
final class Trial {
    final String figure;
    final Method method;
    final int blockMebibytes;
    final int threads;
    final long bytes;

    /** A computing loop runs beside it. */
    final boolean hasLoop;

    private final List<Sample> samples = new ArrayList<>();

    /**
     * One run.
     *
     * @param seconds from connecting until the staging machine has all datasets
     * @param cpuSeconds of the client's processes
     * @param switches context switches of them
     * @param slowing time that the loop's work took, over the time without a transfer; NaN without
     */
    record Sample(double seconds, double cpuSeconds, long switches, double slowing) {}

    Trial(
            String figure,
            Method method,
            int blockMebibytes,
            int threads,
            long bytes,
            boolean hasLoop) {
        this.figure = figure;
        this.method = method;
        this.blockMebibytes = blockMebibytes;
        this.threads = threads;
        this.bytes = bytes;
        this.hasLoop = hasLoop;
    }

    void add(Sample sample) {
        samples.add(sample);
    }

    Interval interval(ToDoubleFunction<Sample> value) {
        return Interval.of(samples.stream().mapToDouble(value).toArray());
    }

    Interval seconds() {
        return interval(Sample::seconds);
    }

    String text() {
        return method.text + (hasLoop ? ", a loop beside it" : "");
    }

    /** A line of the table of all points. */
    Map<String, Object> fields(int datasets) {
        double gigabytes = bytes * datasets / 1e9;
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("figure", figure);
        fields.put("method", method.name().toLowerCase(java.util.Locale.ROOT));
        fields.put("block_MiB", method.isScp() ? 0 : blockMebibytes);
        fields.put("threads", method.isScp() ? 1 : threads);
        fields.put("dataset_bytes", bytes);
        fields.put("datasets", datasets);
        fields.put("loop_beside", hasLoop);
        fields.put("runs", samples.size());
        put(fields, "seconds", seconds());
        put(fields, "GB_per_s", interval(s -> gigabytes / s.seconds()));
        put(fields, "client_cpu_s_per_GB", interval(s -> s.cpuSeconds() / gigabytes));
        put(fields, "client_switches", interval(Sample::switches));
        put(fields, "loop_slowing", interval(Sample::slowing));
        return fields;
    }

    private static void put(Map<String, Object> fields, String name, Interval interval) {
        fields.put(name, interval.mean());
        fields.put(name + "_half95", interval.half());
    }
}
