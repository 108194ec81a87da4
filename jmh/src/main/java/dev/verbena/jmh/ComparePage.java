package dev.verbena.jmh;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * docs/benchmarks.md: a table for each environment in which rows were measured. Rows that are not
 * measured anew stay as they are, under the environment in which they were.
 */
final class ComparePage {
    private static final String HEAD =
            """
            # Benchmarks

            Written by `./verbena compare PAIRS ROW...`, each row in a run of its own time; do not edit. Medians over interleaved pairs of ours and the other.
            Each pair is tagged with the round trip of a cache line between the two processors (near: below 200 ns),
            because virtual processors move and every latency moves with them; pairs during which it changed are
            dropped. Both programs are bound to processors 0 and 1. One row again, of the placement of that time: `./verbena compare 10 NAME`.
            Where the other side's documentation knows several settings, the best of them, by the median of three samples before the pairs, is
            compared; rows whose names end with `-default` have it as it comes.
            """;

    private static final String TABLE =
            """
            | name | what | placement | ours | the other | ratio | target | |
            |---|---|---|---|---|---|---|---|
            """;

    private static final String NO_RATIOS =
            """

            ## What is not a ratio

            | what | limit | measured by |
            |---|---|---|
            | allocated per put, get, send and poll | 0 B | `ShmAllocationTest`, the contract's `LifecycleContract`; `./verbena jmh -prof gc` |
            | processor of an idle process | 2 % of a core each thread, 4 % with those of the JVM | `DartIdleIT` (processes, the best of five times 5 s), `LifecycleContract` (a sleeping transport) |
            | memory while messages pass | flat | `DartFlatMemoryContract` (heap, off-heap, resident set of a real server) |
            """;

    /** Begins what {@code verbena bench} wrote. */
    private static final String BENCH = "\n## By length\n";

    private static final String BENCH_HEAD =
            """

            Written by `./verbena bench --page docs/benchmarks.md`: all programs took turns. Medians over the rounds; in brackets the percentile
            99.9 of single transfers, as far as a program says it (of UCX: of the latest 2,048). After a colon: ours over it, the median of the
            ratios of the rounds. `line` is the round trip of a cache line in ns. `ns` is one way; `noisy` rows differ by more than 25 % between rounds.
            """;

    private static final String SETTINGS =
            """

            ## Settings

            The command of each side, as it was run when the row was measured. Rows that are not in this table were measured before it was written:
            UCX and jucx with `UCX_TLS=posix`, the Java programs of others without `-XX:+UseSerialGC`, which ours had.

            | name | ours | the other |
            |---|---|---|
            """;

    private static final String ENVIRONMENT = "Environment: ";
    private static final String FEW = "too few pairs";
    private static final String NOT_MEASURED = "| not measured: ";

    /** Rows by the name of their comparison, by environment. */
    private final Map<String, Map<String, List<String>>> tables = new LinkedHashMap<>();

    /** Rows of the table of settings, by the name of their comparison. */
    private final Map<String, String> settings = new TreeMap<>();

    private String bench = "";

    private ComparePage() {}

    /** What a page says; nothing if there is none. */
    static ComparePage read(Path page) throws IOException {
        ComparePage read = new ComparePage();
        String environment = "";
        if (!Files.exists(page)) {
            return read;
        }
        String text = Files.readString(page);
        read.bench = text.contains(BENCH) ? text.substring(text.indexOf(BENCH)) : "";
        for (String line : text.lines().toList()) {
            if (line.startsWith("## What is not")) {
                break;
            }
            if (line.equals("## Settings")) {
                environment = null;
            } else if (environment == null && line.startsWith("| ")) {
                read.settings(line);
            } else if (line.startsWith(ENVIRONMENT)) {
                environment = line.substring(ENVIRONMENT.length());
            } else if (line.startsWith("| ") && !line.startsWith("| name |")) {
                read.rows(environment, line.split("\\|")[1].strip()).add(line);
            }
        }
        return read;
    }

    private void settings(String row) {
        settings.put(row.split("\\|")[1].strip(), row);
    }

    private List<String> rows(String environment, String id) {
        return tables.computeIfAbsent(environment, key -> new LinkedHashMap<>())
                .computeIfAbsent(id, key -> new ArrayList<>());
    }

    /**
     * Replaces a comparison's rows by those that were just measured, and how that was done. Figures
     * of earlier stay where there are none now, those of other placements, and those of enough
     * pairs where there are too few now.
     *
     * @return whether the page has one of these rows now
     */
    boolean put(String environment, String id, List<String> rows, String settingsRow) {
        boolean isKnown = tables.values().stream().anyMatch(table -> table.containsKey(id));
        if (isKnown && rows.stream().allMatch(ComparePage::isMissing)) {
            return false;
        }
        tables.values()
                .forEach(
                        table ->
                                table.getOrDefault(id, new ArrayList<>())
                                        .removeIf(ComparePage::isMissing));
        boolean isPut = false;
        for (String row : rows) {
            if (!row.contains(FEW) || earlier(id, row).stream().allMatch(e -> e.contains(FEW))) {
                earlier(id, row)
                        .forEach(each -> tables.values().forEach(table -> remove(table, id, each)));
                rows(environment, id).add(row);
                isPut = true;
            }
        }
        if (isPut) {
            settings(settingsRow);
        }
        return isPut;
    }

    /** Whether a row says only why there are no figures. */
    private static boolean isMissing(String row) {
        return row.contains(NOT_MEASURED);
    }

    private static void remove(Map<String, List<String>> table, String id, String row) {
        table.getOrDefault(id, new ArrayList<>()).remove(row);
    }

    /** Rows of a comparison with the placement of this one. */
    private List<String> earlier(String id, String row) {
        return tables.values().stream()
                .flatMap(table -> table.getOrDefault(id, List.of()).stream())
                .filter(each -> placement(each).equals(placement(row)))
                .toList();
    }

    /** Near or far: the first word of the third column. */
    private static String placement(String row) {
        String[] columns = row.split("\\|");
        return columns.length > 3 ? columns[3].strip().split("[ ,]")[0] : "";
    }

    /** Replaces what {@code verbena bench} measured: a sentence on how, and a table. */
    void putBench(String environment, String how, String table) {
        bench = BENCH + BENCH_HEAD + "\n" + ENVIRONMENT + environment + " " + how + "\n\n" + table;
    }

    /** The page's text, rows in the order of the names given; others are left out. */
    String text(List<String> ids) {
        StringBuilder page = new StringBuilder(HEAD);
        tables.forEach(
                (environment, table) -> {
                    List<String> rows = new ArrayList<>();
                    ids.forEach(id -> rows.addAll(table.getOrDefault(id, List.of())));
                    if (!rows.isEmpty()) {
                        page.append('\n').append(ENVIRONMENT).append(environment);
                        page.append("\n\n").append(TABLE);
                        rows.forEach(row -> page.append(row).append('\n'));
                    }
                });
        page.append(SETTINGS);
        // By name: an order of the rows themselves differs as they move from one table to another.
        settings.keySet().stream()
                .filter(ids::contains)
                .forEach(id -> page.append(settings.get(id)).append('\n'));
        return page.append(NO_RATIOS).append(bench).toString();
    }
}
