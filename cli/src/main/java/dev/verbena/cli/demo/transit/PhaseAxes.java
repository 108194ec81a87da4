package dev.verbena.cli.demo.transit;

import dev.verbena.cli.terminal.Text;
import dev.verbena.examples.pic.PicParameters;

/**
 * Axes and scale of brightness around a {@link PhaseImage}, as HTML.
 *
 * @param parameters of the simulation
 */
record PhaseAxes(PicParameters parameters) {
    /** Densities of the scale's colours, in multiples of the mean. */
    private static final double[] DENSITIES = {0, 0.1, 0.25, 0.5, 1, 2, 3};

    /** A picture with its axes; the box is periodic, so both ends are the same place. */
    String around(String picture) {
        double left = parameters.length() * PhaseImage.LEFT_EDGE;
        double middle = left + 0.5 * parameters.length();
        return Text.format(
                "<div class=\"axes\"><span class=\"y\"><span>%+.1f</span><span>0</span>"
                        + "<span>%+.1f</span></span>%s<span class=\"x\"><span>%.2f</span>"
                        + "<span>%.2f</span><span>%.2f</span></span></div>",
                PhaseImage.SPEED_RANGE, -PhaseImage.SPEED_RANGE, picture, left, middle, left);
    }

    /** Electrons of one beam in a dot of the last colour. */
    String most() {
        double mean = PhaseImage.mean(parameters.particleCount());
        return Text.format("%.0f", DENSITIES[DENSITIES.length - 1] * mean);
    }

    /** Scales of brightness, of either beam. */
    static String scales() {
        return scale(true) + scale(false);
    }

    private static String scale(boolean isRight) {
        StringBuilder colours = new StringBuilder();
        for (double density : DENSITIES) {
            int[] colour = PhaseImage.colour(isRight ? density : 0, isRight ? 0 : density);
            double part = 100 * density / DENSITIES[DENSITIES.length - 1];
            colours.append(
                    Text.format(",rgb(%d,%d,%d) %.0f%%", colour[0], colour[1], colour[2], part));
        }
        return "<span class=\"scale\" style=\"background:linear-gradient(90deg"
                + colours
                + ")\"></span>";
    }
}
