package dev.verbena.cli.demo.transit;

import dev.verbena.cli.terminal.Text;

/** Times for people. */
final class Times {
    private static final double SECONDS_FROM_NS = 1e9;
    private static final double LEAST_SHOWN_NS = 1e4;

    private Times() {}

    /** Milliseconds with three digits at most, or seconds. */
    static String text(double ns) {
        if (ns >= SECONDS_FROM_NS) {
            return Text.format("%.1f s", ns / 1e9);
        }
        double ms = ns / 1e6;
        return ns < LEAST_SHOWN_NS ? "< 0.01 ms" : Text.format(ms < 10 ? "%.2f ms" : "%.0f ms", ms);
    }
}
