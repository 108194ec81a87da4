package dev.verbena.nsim.scenario;

import dev.verbena.nsim.internal.SplitMix64;

/** Numbers that depend on the seed alone, on every machine and JVM: SplitMix64. */
public final class SeededRandom {
    private long state;

    /** Two generators of the same seed answer the same. */
    public SeededRandom(long seed) {
        state = seed;
    }

    /** The next 64 bits. */
    public long next() {
        long number = SplitMix64.mix(state);
        state += SplitMix64.STEP;
        return number;
    }

    /** From 0 to the bound, exclusively. */
    public int below(int bound) {
        return (int) ((next() >>> 33) * bound >>> 31);
    }

    /** The numbers from 0 to the count, exclusively, in random order. */
    public int[] permutation(int count) {
        int[] order = new int[count];
        for (int i = 0; i < count; i++) {
            int j = below(i + 1);
            order[i] = order[j];
            order[j] = i;
        }
        return order;
    }
}
