package dev.verbena.cli.perftest;

import dev.verbena.cli.terminal.Text;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;

/** One line of a perftest table, and the fields of the JSON object for it. */
record PerftestReport(String line, Map<String, Object> fields, boolean isGigabits) {
    static final String RULE = "-".repeat(87);
    static final double MEBIBYTE = 1 << 20;
    private static final double NS_PER_US = 1e3;
    private static final int TAIL = 2;

    static String header(boolean isLatency, boolean isGigabits) {
        if (isLatency) {
            return " #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]"
                    + "    t_stdev[usec]   99% percentile[usec]   99.9% percentile[usec] ";
        }
        String unit = isGigabits ? "Gb/sec" : "MB/sec";
        return " #bytes     #iterations    BW peak[%s]    BW average[%s]   MsgRate[Mpps]"
                .formatted(unit, unit);
    }

    /**
     * Of latencies.
     *
     * @param ns in the order of time; sorted afterwards
     * @param isEach every one is shown, too
     * @param isUnsorted every one is shown, in the order of time
     */
    static PerftestReport ofLatencies(
            int size, long iterations, double[] ns, boolean isEach, boolean isUnsorted) {
        String unsorted = isUnsorted ? each(ns) : "";
        Arrays.sort(ns);
        double[] values = summary(ns);
        String[] names = {"t_min", "t_max", "t_typical", "t_avg", "t_stdev", "t_99", "t_99.9"};
        int[] widths = {15, 14, 16, 14, 16, 22, 24};
        Map<String, Object> fields = common(size, iterations);
        StringBuilder line = new StringBuilder(Text.format(" %-7d %-11d", size, iterations));
        for (int i = 0; i < names.length; i++) {
            String text = Text.format("%.2f", values[i] / NS_PER_US);
            fields.put(names[i], new java.math.BigDecimal(text));
            line.append(Text.format("%-" + widths[i] + "s", " " + text));
        }
        String each = isEach && !isUnsorted ? each(ns) : unsorted;
        return new PerftestReport(each + line.toString().stripTrailing(), fields, false);
    }

    /** Header of what {@link #ofDuration} answers. */
    static String durationHeader() {
        return " #bytes        #iterations       t_avg[usec]    tps average";
    }

    /**
     * Of latencies that were counted for a time.
     *
     * @param count in the sample
     * @param ways 2 for there and back
     */
    static PerftestReport ofDuration(int size, long count, long sampleNs, int ways) {
        double averageUs = sampleNs / NS_PER_US / ways / count;
        double perSecond = count * 1e9 / sampleNs;
        Map<String, Object> fields = common(size, count);
        fields.put("t_avg", number("%.2f", averageUs));
        fields.put("tps_average", number("%.2f", perSecond));
        String line =
                Text.format(
                        " %-7d       %-10d        %-12.2f   %-7.2f",
                        size, count, averageUs, perSecond);
        return new PerftestReport(line.stripTrailing(), fields, false);
    }

    /** As perftest does it: the two largest count for no column but, one of them, as t_max. */
    private static double[] summary(double[] sorted) {
        int count = sorted.length > TAIL ? sorted.length - TAIL : sorted.length;
        int last = sorted.length - 1;
        double mean = Arrays.stream(sorted, 0, count).sum() / count;
        double squares = 0;
        for (int i = 0; i < count; i++) {
            squares += (sorted[i] - mean) * (sorted[i] - mean);
        }
        int middle = count / 2;
        return new double[] {
            sorted[0],
            sorted[Math.min(last, count)],
            count % 2 == 1 ? sorted[middle] : (sorted[middle] + sorted[middle - 1]) / 2,
            mean,
            Math.sqrt(squares / count),
            sorted[(int) Math.min(last, Math.ceil(count * 0.99))],
            sorted[(int) Math.min(last, Math.ceil(count * 0.999))],
        };
    }

    private static String each(double[] ns) {
        StringBuilder text = new StringBuilder("#, usec\n");
        for (int i = 0; i < ns.length; i++) {
            text.append(Text.format("%d, %.3f%n", i + 1, ns[i] / NS_PER_US));
        }
        return text.toString();
    }

    /**
     * Of a bandwidth.
     *
     * @param peak MiB/s
     * @param average MiB/s
     * @param rate million messages a second
     */
    static PerftestReport ofBandwidth(
            long size,
            long iterations,
            double peak,
            double average,
            double rate,
            boolean isGigabits) {
        double unit = isGigabits ? MEBIBYTE * 8 / 1e9 : 1;
        return shown(size, iterations, peak * unit, average * unit, rate, isGigabits);
    }

    /** In the unit that is shown. */
    private static PerftestReport shown(
            long size,
            long iterations,
            double peak,
            double average,
            double rate,
            boolean isGigabits) {
        Map<String, Object> fields = common(size, iterations);
        fields.put("BW_peak", number("%.2f", peak));
        fields.put("BW_average", number("%.2f", average));
        fields.put("MsgRate", number("%.6f", rate));
        String line =
                Text.format(
                        " %-7d    %-10d       %-15.2f    %-15.2f\t   %-7.6f",
                        size, iterations, peak, average, rate);
        return new PerftestReport(line, fields, isGigabits);
    }

    /** A server's, which has measured nothing. */
    static PerftestReport none(boolean isGigabits) {
        return ofBandwidth(0, 0, 0, 0, 0, isGigabits);
    }

    /**
     * Exchanges the bandwidths of both sides. Each side sends what it shows, so both must have
     * chosen the same unit.
     */
    PerftestReport exchange(PerftestWire wire) {
        long size = wire.exchangeLong(((Number) fields.get("MsgSize")).longValue());
        long count = wire.exchangeLong(((Number) fields.get("n_iterations")).longValue());
        double peak = wire.exchangeDouble(value("BW_peak"));
        double average = wire.exchangeDouble(value("BW_average"));
        double rate = wire.exchangeDouble(value("MsgRate"));
        return shown(size, count, peak, average, rate, isGigabits);
    }

    /** Of both directions together: this side's messages, both sides' rates. */
    PerftestReport plus(PerftestReport other) {
        return shown(
                ((Number) fields.get("MsgSize")).longValue(),
                ((Number) fields.get("n_iterations")).longValue(),
                value("BW_peak") + other.value("BW_peak"),
                value("BW_average") + other.value("BW_average"),
                value("MsgRate") + other.value("MsgRate"),
                isGigabits);
    }

    private double value(String name) {
        return fields.get(name) == null ? 0 : ((Number) fields.get(name)).doubleValue();
    }

    private static Object number(String format, double value) {
        return Double.isFinite(value) ? new java.math.BigDecimal(Text.format(format, value)) : null;
    }

    private static Map<String, Object> common(long size, long iterations) {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("MsgSize", size);
        fields.put("n_iterations", iterations);
        return fields;
    }
}
