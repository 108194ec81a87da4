package dev.verbena.nsim.scenario;

import dev.verbena.nsim.program.Rank;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;

/** What expressions of a scenario file can see: one rank's variables. */
final class Frame {
    private static final int INDEX_MAX = 1 << 20;

    final long processes;
    final long bytes;
    final long seed;
    final Rank rank;
    private final long[][] variables;
    private final Map<Integer, int[]> orders;
    private final SeededRandom random;

    /**
     * A rank's variables.
     *
     * @param rank null where only the machine is asked for
     * @param orders shared by the ranks of a run
     */
    Frame(
            long processes,
            long bytes,
            long seed,
            Rank rank,
            int variableCount,
            Map<Integer, int[]> orders) {
        this.processes = processes;
        this.bytes = bytes;
        this.seed = seed;
        this.rank = rank;
        variables = new long[variableCount][1];
        this.orders = orders;
        random = new SeededRandom(seed << 32 ^ (rank == null ? 0 : rank.rank()));
    }

    static Frame ofMachine(long processes, long seed, int variableCount) {
        return new Frame(processes, 0, seed, null, variableCount, new HashMap<>());
    }

    long variable(int slot, long index) {
        check(index);
        return index < variables[slot].length ? variables[slot][(int) index] : 0;
    }

    void variable(int slot, long index, long value) {
        check(index);
        if (index >= variables[slot].length) {
            variables[slot] = Arrays.copyOf(variables[slot], Math.max(8, 2 * (int) index));
        }
        variables[slot][(int) index] = value;
    }

    private static void check(long index) {
        if (index < 0 || index >= INDEX_MAX) {
            throw new IllegalArgumentException("index " + index + " is outside 0 to " + INDEX_MAX);
        }
    }

    long random(long bound) {
        if (bound < 1 || bound > Integer.MAX_VALUE) {
            throw new IllegalArgumentException(
                    "random(" + bound + "): between 1 and 2^31 numbers to choose from are needed");
        }
        return random.below((int) bound);
    }

    /** The numbers below count in an order that the seed gives, first those, then their places. */
    long shuffled(long count, long at, boolean isPlace) {
        if (count < 1 || count > 1 << 24 || at < 0 || at >= count) {
            throw new IllegalArgumentException(
                    "shuffle or place of " + at + " among " + count + " numbers");
        }
        int n = (int) count;
        int[] order = orders.computeIfAbsent(n, Frame.this::order);
        return order[(int) at + (isPlace ? n : 0)];
    }

    private int[] order(int n) {
        int[] both = Arrays.copyOf(new SeededRandom(seed).permutation(n), 2 * n);
        for (int i = 0; i < n; i++) {
            both[n + both[i]] = i;
        }
        return both;
    }
}
