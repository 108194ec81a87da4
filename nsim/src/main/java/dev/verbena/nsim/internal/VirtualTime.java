package dev.verbena.nsim.internal;

/** Sums and products of times in picoseconds, none negative, that refuse what is no long. */
public final class VirtualTime {
    private VirtualTime() {}

    /** Two times. */
    public static long sum(long firstPs, long secondPs) {
        long sum = firstPs + secondPs;
        if (sum < 0) {
            throw over();
        }
        return sum;
    }

    /** A time so often. */
    public static long times(long count, long ps) {
        long product = count * ps;
        if (product < 0 || Math.multiplyHigh(count, ps) != 0) {
            throw over();
        }
        return product;
    }

    /** What is said of a time beyond the last that has a number. */
    public static IllegalArgumentException over() {
        return new IllegalArgumentException(
                "the 106 days that can be simulated are over; shorten the computation or raise"
                        + " the bandwidth");
    }
}
