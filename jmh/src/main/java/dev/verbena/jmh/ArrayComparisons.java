package dev.verbena.jmh;

import dev.verbena.jmh.Comparison.Bound;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/** The array service beside gets without a protocol; see {@link ArrayRedistribution}. */
final class ArrayComparisons {
    private static final double LIMIT = 0.7;
    private static final String ROUNDS = "3";

    private ArrayComparisons() {}

    /** The comparisons. */
    static List<Comparison> of() {
        String what = "256 MiB through an array server over shm://, ";
        String equal = ", over one stream of gets of the same bytes, of ";
        return List.of(
                beside(
                        "array-put",
                        what + "put as four blocks of rows" + equal + "64 MiB",
                        "put of 4",
                        "raw get, 64 MiB"),
                beside(
                        "array-get",
                        what + "got as two halves of the rows" + equal + "64 MiB",
                        "get of 2, rows",
                        "raw get, 64 MiB"),
                beside(
                        "array-get-columns",
                        what + "got as two halves of the columns" + equal + "32 KiB as there",
                        "get of 2, columns",
                        "raw get, 32 KiB"));
    }

    private static Comparison beside(String id, String sentence, String ours, String raw) {
        return new Comparison(
                id, sentence, "GB/s", figure(ours), figure(raw), Bound.AT_LEAST, LIMIT);
    }

    private static Contestant figure(String name) {
        List<String> command =
                List.of(
                        System.getProperty("java.home") + "/bin/java",
                        "-XX:+UseSerialGC",
                        "-cp",
                        System.getProperty("java.class.path"),
                        ArrayRedistribution.class.getName(),
                        ROUNDS);
        Pattern number = Pattern.compile("\"" + name + ", MB/s\": ([0-9.]+)");
        return new Contestant(name, command, Map.of(), number, 1e-3);
    }
}
