package dev.verbena.jmh;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

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
            dropped. Both programs are bound to processors 0 and 1. One row again: `./verbena compare 10 NAME`.
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
            | processor of an idle process | 2 % of a core | `DartIdleIT` (processes, the best of five times 5 s), `LifecycleContract` (a sleeping transport) |
            | memory while messages pass | flat | `DartFlatMemoryContract` (heap, off-heap, resident set of a real server) |
            """;

    private static final String ENVIRONMENT = "Environment: ";

    /** Rows by the name of their comparison, by environment. */
    private final Map<String, Map<String, List<String>>> tables = new LinkedHashMap<>();

    private ComparePage() {}

    /** What a page says; nothing if there is none. */
    static ComparePage read(Path page) throws IOException {
        ComparePage read = new ComparePage();
        String environment = "";
        if (!Files.exists(page)) {
            return read;
        }
        for (String line : Files.readAllLines(page)) {
            if (line.startsWith("## ")) {
                break;
            }
            if (line.startsWith(ENVIRONMENT)) {
                environment = line.substring(ENVIRONMENT.length());
            } else if (line.startsWith("| ") && !line.startsWith("| name |")) {
                read.rows(environment, line.split("\\|")[1].strip()).add(line);
            }
        }
        return read;
    }

    private List<String> rows(String environment, String id) {
        return tables.computeIfAbsent(environment, key -> new LinkedHashMap<>())
                .computeIfAbsent(id, key -> new ArrayList<>());
    }

    /** Replaces a comparison's rows by those that were just measured. */
    void put(String environment, String id, List<String> rows) {
        tables.values().forEach(table -> table.remove(id));
        rows(environment, id).addAll(rows);
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
        return page.append(NO_RATIOS).toString();
    }
}
