package dev.verbena.jmh;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * One turn: each of several programs has run once, and before, between and after them the round
 * trip of a cache line was measured. A host moves virtual cores between neighbouring and distant
 * placement, and every latency with them.
 *
 * @param results of the programs, in their order
 * @param lineNs the round trip in the middle of the turn
 * @param isNear whether the cores were neighbours at the beginning
 * @param isSteady whether the placement was the same all the time
 */
record Turn<T>(List<T> results, double lineNs, boolean isNear, boolean isSteady) {
    /** A round trip below this is near. Seen: about 80 and about 340. */
    static final double NEAR_BELOW_NS = 200;

    /** What has a turn. */
    interface Program<T> {
        /** Runs once. */
        T run() throws IOException, InterruptedException;
    }

    /**
     * Takes a turn.
     *
     * @param isReversed whether the last program runs first
     * @throws IOException of the first program that fails
     */
    static <T> Turn<T> take(Contestant probe, List<Program<T>> programs, boolean isReversed)
            throws IOException, InterruptedException {
        List<T> results = new ArrayList<>(Collections.nCopies(programs.size(), null));
        List<Double> lines = new ArrayList<>(List.of(probe.sample()));
        for (int i = 0; i < programs.size(); i++) {
            int index = isReversed ? programs.size() - 1 - i : i;
            results.set(index, programs.get(index).run());
            lines.add(probe.sample());
        }
        boolean isNear = lines.get(0) < NEAR_BELOW_NS;
        boolean isSteady = lines.stream().allMatch(line -> line < NEAR_BELOW_NS == isNear);
        return new Turn<>(results, lines.get(lines.size() / 2), isNear, isSteady);
    }
}
