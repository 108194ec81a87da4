package dev.verbena.cli;

import java.util.ArrayList;
import java.util.List;

/** Two samples as a table: rates between them, depths and sums at the second. */
final class TopTable {
    private static final String ROW = "%-16s %8s %9s %9s %9s %5s %5s %5s %5s %7s %7s %7s %7s %7s";
    private static final String[] PULLED = {"messages pulled", "messages", "messages sent"};
    private static final String[] IN = {"bytes pulled", "bytes"};
    private static final String[] OUT = {"bytes streamed", "bytes sent"};

    private TopTable() {}

    static List<String> lines(TopSample before, TopSample now) {
        List<String> lines = new ArrayList<>();
        double seconds = Math.max(1e-3, (now.timeNs() - before.timeNs()) / 1e9);
        String job = null;
        for (TopSample.Entry entry : now.processes()) {
            if (!entry.job().equals(job)) {
                job = entry.job();
                lines.add("job " + job);
                lines.add(
                        String.format(
                                ROW,
                                "role",
                                "process",
                                "msg/s",
                                "MB/s in",
                                "MB/s out",
                                "ebq",
                                "pbq",
                                "fbq",
                                "t3",
                                "parked",
                                "spillMB",
                                "stalls",
                                "failed",
                                "errors"));
            }
            lines.add(row(before.before(entry), entry, seconds));
        }
        return lines;
    }

    private static String row(TopSample.Entry before, TopSample.Entry now, double seconds) {
        return String.format(
                ROW,
                now.role(),
                now.pid(),
                rate(before, now, seconds, 1, PULLED),
                rate(before, now, seconds, 1e6, IN),
                rate(before, now, seconds, 1e6, OUT),
                depth(now, "buffers in ebq"),
                depth(now, "buffers in pbq"),
                depth(now, "buffers in fbq"),
                depth(now, "buffers in t3"),
                depth(now, "headers parked"),
                now.get("bytes spilled") < 0
                        ? "-"
                        : String.format("%.1f", now.get("bytes spilled") / 1e6),
                depth(now, "sends blocked"),
                depth(now, "messages failed", "messages corrupt"),
                now.errorCount());
    }

    /** Of the first counter that the process has; a dash if it has none. */
    private static String rate(
            TopSample.Entry before,
            TopSample.Entry now,
            double seconds,
            double unit,
            String... labels) {
        for (String label : labels) {
            long value = now.get(label);
            if (value >= 0) {
                long earlier = before == null ? 0 : Math.max(0, before.get(label));
                // An object that was closed took its counts away.
                double change = Math.max(0, value - earlier);
                return String.format("%.1f", change / seconds / unit);
            }
        }
        return "-";
    }

    private static String depth(TopSample.Entry now, String... labels) {
        for (String label : labels) {
            if (now.get(label) >= 0) {
                return Long.toString(now.get(label));
            }
        }
        return "-";
    }
}
