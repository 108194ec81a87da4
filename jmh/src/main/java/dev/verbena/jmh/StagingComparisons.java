package dev.verbena.jmh;

import dev.verbena.jmh.Comparison.Bound;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/** In-transit staging and its sinks beside the same bytes without a protocol. */
final class StagingComparisons {
    private static final List<Integer> BLOCKS = List.of(4, 32, 256);
    private static final double PLAIN = 0.93;
    private static final double WITH_SUMS = 0.85;
    private static final double FRESH = 0.9;
    private static final double FILES = 0.9;
    private static final double POSTGRES = 0.8;
    private static final double DUCKDB = 5;
    private static final double WRITE_US = 1;

    private StagingComparisons() {}

    /** The comparisons. */
    static List<Comparison> of() {
        List<Comparison> all = new ArrayList<>();
        for (int block : BLOCKS) {
            String what = "256 MiB staged over shm:// into pages that were used before, blocks of ";
            String beside = " MiB, over raw puts of that length";
            Contestant put = figure("raw put", "put", Integer.toString(block));
            all.add(
                    atLeast(
                            "stage-" + block + "m",
                            what + block + beside,
                            staged(block, "pooled", "plain"),
                            List.of(put),
                            PLAIN));
            all.add(
                    atLeast(
                            "stage-" + block + "m-sums",
                            what + block + " MiB, checksums on, over raw puts without",
                            staged(block, "pooled", "sums"),
                            List.of(put),
                            WITH_SUMS));
        }
        all.add(
                atLeast(
                        "stage-fresh",
                        "256 MiB staged over shm:// into pages that nobody used, blocks of 8 MiB, over a"
                                + " plain copy into a fresh memory file",
                        staged(8, "fresh", "plain"),
                        List.of(
                                figure("copy into a mapping", "copy", "mapped"),
                                figure("write(2)", "copy", "written")),
                        FRESH));
        all.add(
                new Comparison(
                        "stage-write",
                        "write of 8 KiB returns, p50; beside it the same bytes staged to the end",
                        "us",
                        figure("write", "write"),
                        figure("write and sync", "synced"),
                        Bound.OURS_AT_MOST,
                        WRITE_US));
        all.addAll(sinks());
        return all;
    }

    private static List<Comparison> sinks() {
        List<Comparison> all = new ArrayList<>();
        all.add(
                atLeast(
                        "sink-files",
                        "256 MiB from a staged file through the file sink into a memory file, over"
                                + " sendfile into a socket and from there into such a file",
                        figure("file sink", "sink"),
                        List.of(figure("sendfile, socket, file", "socket")),
                        FILES));
        all.add(
                new Comparison(
                        "sink-postgres",
                        "a million doubles through the PostgreSQL sink, over COPY of the same rows"
                                + " from memory",
                        "M rows/s",
                        postgres("PostgreSQL sink", "sink"),
                        postgres("COPY from memory", "copy"),
                        Bound.AT_LEAST,
                        POSTGRES));
        all.add(
                duckDb(
                        "sink-duckdb",
                        "DuckDB's appender, row by row",
                        duckDb("DuckDB's appender", "appender"),
                        DUCKDB));
        all.add(
                duckDb(
                        "sink-duckdb-sql",
                        "INSERT of DuckDB's own rows",
                        duckDb("INSERT INTO ... SELECT ... FROM range()", "sql"),
                        0));
        return all;
    }

    private static Comparison atLeast(
            String id, String what, Contestant ours, List<Contestant> others, double limit) {
        return new Comparison(id, what, "GB/s", ours, others, Bound.AT_LEAST, limit);
    }

    private static Contestant staged(int block, String pages, String sums) {
        return figure("Verbena staging", "staged", Integer.toString(block), pages, sums);
    }

    private static Contestant figure(String name, String... arguments) {
        return program(name, StagingFigures.class, arguments);
    }

    private static Contestant postgres(String name, String... arguments) {
        return program(name, PostgresFigures.class, arguments);
    }

    private static Comparison duckDb(String id, String other, Contestant beside, double limit) {
        return new Comparison(
                id,
                "four million doubles through the DuckDB sink into a file, over " + other,
                "M rows/s",
                duckDb("DuckDB sink", "sink"),
                beside,
                limit > 0 ? Bound.AT_LEAST : Bound.NONE,
                limit);
    }

    private static Contestant duckDb(String name, String... arguments) {
        return program(name, DuckDbFigures.class, arguments);
    }

    private static Contestant program(String name, Class<?> type, String... arguments) {
        List<String> command =
                new ArrayList<>(
                        List.of(
                                System.getProperty("java.home") + "/bin/java",
                                "-XX:+UseSerialGC",
                                "-XX:MaxDirectMemorySize=4g",
                                "-cp",
                                System.getProperty("java.class.path"),
                                type.getName()));
        command.addAll(List.of(arguments));
        Pattern number = Pattern.compile("\"value\": ([0-9.]+)");
        return new Contestant(name, command, Map.of(), number, 1e-3);
    }
}
