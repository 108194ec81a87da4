package dev.verbena.examples.heat;

/**
 * A piece of a rod: the heat equation in one dimension, explicit Euler, one ghost cell at each end.
 * A cell's value depends on its neighbours only, so pieces that exchange their ends compute the
 * same bits as the whole.
 */
final class HeatRod {
    /** Temperature at the left end of the whole rod, and at the right one. */
    static final double HOT = 1.0;

    static final double COLD = 0.0;
    private static final double ALPHA = 0.4;

    private double[] now;
    private double[] next;

    /** Cells {@code first} to {@code first + count - 1} of the whole rod, at step 0. */
    HeatRod(int first, int count) {
        now = new double[count + 2];
        next = new double[count + 2];
        for (int i = 0; i < count; i++) {
            now[i + 1] = 0.5 + 0.25 * Math.sin(0.7 * (first + i));
        }
    }

    double cell(int i) {
        return now[i + 1];
    }

    /** One step, with the values beyond the ends as they were before it. */
    void advance(double left, double right) {
        now[0] = left;
        now[now.length - 1] = right;
        for (int i = 1; i < now.length - 1; i++) {
            next[i] = now[i] + ALPHA * (now[i - 1] - 2 * now[i] + now[i + 1]);
        }
        double[] swap = now;
        now = next;
        next = swap;
    }
}
