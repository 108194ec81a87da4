package dev.verbena.jmh;

import dev.verbena.cli.VerbenaCommand;
import dev.verbena.jmh.Comparison.Bound;
import java.util.ArrayList;
import java.util.List;

/**
 * Verbena's put over shm in a JVM in which another provider was warmed up, over the same without.
 * Code that providers share must not get slower by being compiled for two of them.
 */
final class SecondProviderComparisons {
    private static final double LIMIT = 1.1;

    private SecondProviderComparisons() {}

    /**
     * The comparisons.
     *
     * @param alone measures the put in a JVM of its own
     */
    static List<Comparison> of(Contestant alone) {
        return List.of(beside("portals", alone), beside("gni", alone));
    }

    private static Comparison beside(String scheme, Contestant alone) {
        String command = VerbenaCommand.class.getName();
        List<String> line = new ArrayList<>(alone.command());
        int at = line.indexOf(command);
        line.set(at, SecondProviderMain.class.getName());
        line.add(at + 1, scheme);
        Contestant ours =
                new Contestant(
                        alone.name() + " beside " + scheme,
                        line,
                        alone.environment(),
                        alone.number(),
                        alone.scale());
        return new Comparison(
                "put-beside-" + scheme,
                "8 B put over shm:// in a JVM that has used " + scheme + ":// before, over without",
                "ns",
                ours,
                alone,
                Bound.AT_MOST,
                LIMIT);
    }
}
