package dev.verbena.nsim.dart;

import dev.verbena.nsim.world.TraceHandler;
import java.util.ArrayList;
import java.util.List;

/**
 * Looks for a seed that breaks one of DART's promises, each seed a small service with its own
 * shape, schedule and faults, and makes what it finds smaller. One thread.
 */
public final class DartSweep {
    /** One run in this many is repeated, and must be the same. */
    private static final int TWICE = 50;

    private DartSweep() {}

    /**
     * A seed that breaks a promise.
     *
     * @param seed replays it
     * @param failure what is broken
     * @param shape the smallest service that still breaks one, for people
     * @param faults the fewest faults that do, for people; empty: the schedule alone
     * @param traceHash of that smallest run
     */
    public record Finding(
            long seed, String failure, String shape, List<String> faults, long traceHash) {}

    /** Called after each seed; the answer false ends the sweep. */
    @FunctionalInterface
    public interface ProgressHandler {
        /** A number of seeds is done. */
        boolean onProgress(long done, DartOutcome last);
    }

    /** Runs one seed. */
    public static DartOutcome run(long seed, TraceHandler trace) {
        DartShape shape = DartShape.of(seed);
        return new DartCase(seed, shape, Fault.plan(seed, shape), trace).run();
    }

    /** What a seed is, for people: its shape and its faults. */
    public static String describe(long seed) {
        DartShape shape = DartShape.of(seed);
        return shape + ", faults " + Fault.plan(seed, shape);
    }

    /**
     * Runs seeds until one breaks a promise.
     *
     * @return what was found; null: nothing
     */
    public static Finding sweep(long firstSeed, long count, ProgressHandler progress) {
        for (long i = 0; i < count; i++) {
            long seed = firstSeed + i;
            DartOutcome outcome = run(seed, null);
            if (outcome.failure().isEmpty() && i % TWICE == TWICE - 1) {
                DartOutcome again = run(seed, null);
                if (!again.equals(outcome)) {
                    String what = "two runs differ: " + outcome + ", " + again;
                    return new Finding(seed, what, describe(seed), List.of(), 0);
                }
            }
            if (!outcome.failure().isEmpty()) {
                return shrink(seed, outcome);
            }
            if (!progress.onProgress(i + 1, outcome)) {
                return null;
            }
        }
        return null;
    }

    /** Leaves out faults, then halves the service, as long as a promise is broken. */
    private static Finding shrink(long seed, DartOutcome found) {
        DartShape shape = DartShape.of(seed);
        List<Fault> faults = new ArrayList<>(Fault.plan(seed, shape));
        DartOutcome outcome = found;
        for (int i = faults.size() - 1; i >= 0; i--) {
            List<Fault> fewer = new ArrayList<>(faults);
            fewer.remove(i);
            DartOutcome without = new DartCase(seed, shape, fewer, null).run();
            if (!without.failure().isEmpty()) {
                faults = fewer;
                outcome = without;
            }
        }
        boolean isSmaller = true;
        while (isSmaller) {
            isSmaller = false;
            for (DartShape smaller : smaller(shape)) {
                DartOutcome with = new DartCase(seed, smaller, faults, null).run();
                if (!isSmaller && !with.failure().isEmpty() && isNamed(faults, smaller)) {
                    shape = smaller;
                    outcome = with;
                    isSmaller = true;
                }
            }
        }
        return new Finding(
                seed,
                outcome.failure(),
                shape.toString(),
                faults.stream().map(Fault::toString).toList(),
                outcome.traceHash());
    }

    private static List<DartShape> smaller(DartShape s) {
        List<DartShape> all = new ArrayList<>();
        if (s.nodes() > 1) {
            all.add(s.with(s.servers(), s.nodes() / 2, s.messages()));
        }
        if (s.messages() > 1) {
            all.add(s.with(s.servers(), s.nodes(), s.messages() / 2));
        }
        if (s.servers() > 1) {
            all.add(s.with(s.servers() - 1, s.nodes(), s.messages()));
        }
        return all;
    }

    private static boolean isNamed(List<Fault> faults, DartShape shape) {
        return faults.stream().allMatch(f -> isThere(f.host(), shape) && isThere(f.other(), shape));
    }

    private static boolean isThere(String host, DartShape shape) {
        int index = Integer.parseInt(host.replaceAll("\\D", ""));
        return host.startsWith("receiver")
                || index < (host.startsWith("server") ? shape.servers() : shape.nodes());
    }
}
