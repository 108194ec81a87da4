package dev.verbena.cli.flesnet;

import dev.verbena.cli.terminal.Columns;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What the nodes of a run have done, and how fast since the last look: a row for each node, and for
 * each role their sum. An input counts timeslices that are released, a compute node those that are
 * built. One thread.
 */
final class RunTable {
    private static final int[] WIDTHS = {-12, 12, 6, 12, 10, 9};
    private static final Object[] HEAD = {"node", "timeslices", "%", "per second", "MB", "MB/s"};

    private final long total;
    private Map<String, long[]> before = Map.of();
    private long beforeNs;

    /** Of a run with so many timeslices; -1: nobody knows. */
    RunTable(long total, long nowNs) {
        this.total = total;
        this.beforeNs = nowNs;
    }

    /**
     * The table now.
     *
     * @param counts of each node, {@code ROLE INDEX}: timeslices and bytes
     * @param width of the terminal
     */
    List<String> lines(Map<String, long[]> counts, long nowNs, int width) {
        double seconds = Math.max(1e-3, (nowNs - beforeNs) / 1e9);
        List<String> lines = new ArrayList<>(Columns.row(WIDTHS, width, HEAD));
        Map<String, long[]> sums = new LinkedHashMap<>();
        counts.forEach(
                (node, count) -> {
                    long[] last = before.getOrDefault(node, new long[2]);
                    boolean isInput = node.startsWith("input");
                    lines.addAll(row(node, count, last, isInput ? total : -1, seconds, width));
                    long[] sum = sums.computeIfAbsent(node.split(" ")[0] + "s", r -> new long[4]);
                    for (int i = 0; i < 2; i++) {
                        sum[i] += count[i];
                        sum[2 + i] += last[i];
                    }
                });
        sums.forEach(
                (role, sum) -> {
                    long[] last = {sum[2], sum[3]};
                    boolean isBuilt = role.equals("computes");
                    lines.addAll(row(role, sum, last, isBuilt ? total : -1, seconds, width));
                });
        before = new LinkedHashMap<>(counts);
        beforeNs = nowNs;
        return lines;
    }

    private static List<String> row(
            String name, long[] count, long[] last, long of, double seconds, int width) {
        return Columns.row(
                WIDTHS,
                width,
                name,
                count[0],
                of < 1 ? "" : Long.toString(100 * count[0] / of),
                "%.0f".formatted((count[0] - last[0]) / seconds),
                "%.1f".formatted(count[1] / 1e6),
                "%.1f".formatted((count[1] - last[1]) / 1e6 / seconds));
    }
}
