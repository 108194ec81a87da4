package dev.verbena.cli.status;

import dev.verbena.cli.terminal.Columns;
import java.util.ArrayList;
import java.util.List;

/** Two samples as a table: rates between them, depths and sums at the second. */
final class TopTable {
    private static final String[] HEAD = {
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
        "errors"
    };
    private static final int[] WIDTHS = {-16, 8, 9, 9, 9, 5, 5, 5, 5, 7, 7, 7, 7, 7};
    private static final String[] PULLED = {"messages pulled", "messages", "messages sent"};
    private static final String[] IN = {"bytes pulled", "bytes"};
    private static final String[] OUT = {"bytes streamed", "bytes sent"};

    private TopTable() {}

    /** What does not fit into this width goes into more lines for each process. */
    static List<String> lines(TopSample before, TopSample now, int width) {
        List<String> lines = new ArrayList<>();
        double seconds = Math.max(1e-3, (now.timeNs() - before.timeNs()) / 1e9);
        String job = null;
        for (TopSample.Entry entry : now.processes()) {
            if (!entry.job().equals(job)) {
                job = entry.job();
                lines.add("job " + job);
                row(lines, width, (Object[]) HEAD);
            }
            row(lines, width, before.before(entry), entry, seconds);
            if (entry.get("servers held by steps") > 0) {
                lines.add(held(entry));
            }
        }
        return lines;
    }

    /** A rank is so far ahead that the receiver takes nothing more of its server. */
    private static String held(TopSample.Entry receiver) {
        return "    rank %s is ahead with step %s, and waits for %s"
                .formatted(
                        receiver.get("held rank"),
                        receiver.get("held step"),
                        receiver.get("held by bytesMax") > 0 ? "bytesMax" : "openStepsMax");
    }

    private static void row(List<String> lines, int width, Object... cells) {
        lines.addAll(Columns.row(WIDTHS, width, cells));
    }

    private static void row(
            List<String> lines,
            int width,
            TopSample.Entry before,
            TopSample.Entry now,
            double seconds) {
        row(
                lines,
                width,
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
