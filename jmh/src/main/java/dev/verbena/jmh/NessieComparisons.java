package dev.verbena.jmh;

import dev.verbena.jmh.Comparison.Bound;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/** Nessie's calls beside sends, puts and gets of equal length, and beside other packages' calls. */
final class NessieComparisons {
    private static final Pattern HALF_NS = Pattern.compile("\"halfNs\": ?([0-9.E]+)");
    private static final Pattern MEGABYTES = Pattern.compile("\"medianMBps\": ?([0-9.E]+)");

    private NessieComparisons() {}

    /**
     * The comparisons.
     *
     * @param send sends of a null request's length, there and back
     * @param get puts and gets of 4 MiB, 8 outstanding, as {@code put}
     * @param peers other packages, half of a request and its answer of that length
     */
    static List<Comparison> of(
            Contestant send, Contestant get, Contestant put, List<List<Contestant>> peers) {
        String call = "null RPC of Nessie over shm://, half of there and back, over ";
        List<Comparison> all = new ArrayList<>();
        Contestant nothing = part(send, "nothing", HALF_NS, 1);
        all.add(
                new Comparison(
                        "rpc-null",
                        call + "sends of equal length",
                        "ns",
                        nothing,
                        send,
                        Bound.AT_MOST,
                        1.6));
        for (List<Contestant> settings : peers) {
            String name = settings.get(0).name().split("[ ,]")[0];
            all.add(
                    new Comparison(
                            "rpc-" + name.toLowerCase(java.util.Locale.ROOT),
                            call + "a request and its answer of equal length by " + name,
                            "ns",
                            nothing,
                            settings,
                            Bound.NONE,
                            0));
        }
        String bulk = "4 MiB of a call of Nessie, 8 outstanding, ";
        all.add(
                new Comparison(
                        "rpc-write-4m",
                        bulk + "pulled by the server, over the same gets without calls",
                        "GB/s",
                        part(get, "write", MEGABYTES, 1e-3),
                        get,
                        Bound.AT_LEAST,
                        0.93));
        all.add(
                new Comparison(
                        "rpc-read-4m",
                        bulk + "pushed by the server, over the same puts without calls",
                        "GB/s",
                        part(put, "read", MEGABYTES, 1e-3),
                        put,
                        Bound.AT_LEAST,
                        0.93));
        return all;
    }

    /** In a JVM that is started as the other's is. */
    private static Contestant part(Contestant like, String figure, Pattern number, double scale) {
        List<String> command = new ArrayList<>(like.command());
        int main = command.indexOf("dev.verbena.cli.VerbenaCommand");
        command.subList(main + 1, command.size()).clear();
        command.addAll(List.of("nessie", "bench-part", figure, "--peer-processor=1"));
        return new Contestant("Verbena Nessie", command, Map.of(), number, scale);
    }
}
