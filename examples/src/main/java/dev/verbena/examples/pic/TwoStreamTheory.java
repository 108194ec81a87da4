package dev.verbena.examples.pic;

/**
 * Linear theory of two equal, opposite electron beams over fixed ions.
 *
 * <p>Dispersion relation for a growing wave exp(g t), total plasma frequency 1, beams with speed u
 * and Maxwellian spread: 1 = mean over the beam's speeds v of (a^2 - g^2) / (a^2 + g^2)^2, with a =
 * k v. For cold beams v = u, which gives g^2 = (sqrt(1 + 8 a^2) - 1 - 2 a^2) / 2.
 */
public final class TwoStreamTheory {
    private static final int INTERVAL_COUNT = 4000;
    private static final double SPREAD = 8;
    private static final double GROWTH_MAX = 1;

    private TwoStreamTheory() {}

    /** Growth rate of the first mode of a run; 0 if it does not grow. */
    public static double growthRate(PicParameters parameters) {
        return growthRate(
                parameters.waveNumber(), parameters.beamSpeed(), parameters.thermalSpeed());
    }

    /** Growth rate of the field's amplitude at wave number {@code k}; 0 if it does not grow. */
    public static double growthRate(double k, double beamSpeed, double thermalSpeed) {
        double a = k * beamSpeed;
        if (thermalSpeed == 0) {
            double square = (Math.sqrt(1 + 8 * a * a) - 1 - 2 * a * a) / 2;
            return square > 0 ? Math.sqrt(square) : 0;
        }
        double slow = 1e-3;
        if (excess(slow, k, beamSpeed, thermalSpeed) < 0) {
            return 0;
        }
        double fast = GROWTH_MAX;
        for (int i = 0; i < 60; i++) {
            double middle = 0.5 * (slow + fast);
            if (excess(middle, k, beamSpeed, thermalSpeed) > 0) {
                slow = middle;
            } else {
                fast = middle;
            }
        }
        return 0.5 * (slow + fast);
    }

    /** Mean of (a^2 - g^2) / (a^2 + g^2)^2, minus 1: falls through 0 at the growth rate. */
    private static double excess(double growth, double k, double beamSpeed, double thermalSpeed) {
        double sum = 0;
        double weights = 0;
        for (int i = 0; i <= INTERVAL_COUNT; i++) {
            double s = SPREAD * (2.0 * i / INTERVAL_COUNT - 1);
            double weight = Math.exp(-0.5 * s * s);
            double a = k * (beamSpeed + s * thermalSpeed);
            double square = a * a + growth * growth;
            sum += weight * (a * a - growth * growth) / (square * square);
            weights += weight;
        }
        return sum / weights - 1;
    }
}
