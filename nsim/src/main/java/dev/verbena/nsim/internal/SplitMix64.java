package dev.verbena.nsim.internal;

/** The generator SplitMix64: the same numbers on every machine. */
public final class SplitMix64 {
    /** What the state grows by between two numbers. */
    public static final long STEP = 0x9e3779b97f4a7c15L;

    private SplitMix64() {}

    /** The number behind a state: every bit of it depends on every bit of the state. */
    public static long mix(long state) {
        long z = state + STEP;
        z = (z ^ z >>> 30) * 0xbf58476d1ce4e5b9L;
        z = (z ^ z >>> 27) * 0x94d049bb133111ebL;
        return z ^ z >>> 31;
    }
}
