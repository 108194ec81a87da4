package dev.verbena.cli.demo.transit;

import dev.verbena.cli.report.Png;
import dev.verbena.examples.pic.RestartFile;

/**
 * Picture of phase space: place to the right, speed upwards, brightness is the number of particles.
 * Particles that began in the right-going beam are amber, those of the left-going beam blue.
 */
final class PhaseImage {
    static final int WIDTH = 384;
    static final int HEIGHT = 256;

    /** Speeds shown, in multiples of the beam's speed, to both sides. */
    static final double SPEED_RANGE = 2.4;

    /** The box is periodic; turned by this much the vortex appears in the middle. */
    private static final double SHIFT = 0.75 * WIDTH;

    /** Place at both edges, as a part of the box. */
    static final double LEFT_EDGE = 0.25;

    private static final int[] RIGHT_COLOUR = {255, 176, 59};
    private static final int[] LEFT_COLOUR = {70, 160, 255};
    private static final int[] BACKGROUND = {10, 14, 26};

    private final int[] right = new int[WIDTH * HEIGHT];
    private final int[] left = new int[WIDTH * HEIGHT];
    private long particleCount;

    /** Adds the particles of one process. */
    void add(RestartFile file) {
        double perPlace = WIDTH / file.parameters().length();
        double perSpeed = HEIGHT / (2 * SPEED_RANGE * file.parameters().beamSpeed());
        long first = file.parameters().firstParticle(file.rank(), file.processCount());
        double[] places = file.places();
        double[] speeds = file.speeds();
        for (int i = 0; i < places.length; i++) {
            int column = (int) (places[i] * perPlace + SHIFT) % WIDTH;
            int row = (int) Math.floor(HEIGHT / 2.0 - speeds[i] * perSpeed);
            if (row >= 0 && row < HEIGHT) {
                int[] beam = (first + i & 1) == 0 ? right : left;
                beam[row * WIDTH + column]++;
            }
        }
        particleCount += places.length;
    }

    /** As a PNG file. */
    byte[] png() {
        double mean = mean(particleCount);
        return Png.encode(
                WIDTH,
                HEIGHT,
                (x, y) -> colour(right[y * WIDTH + x] / mean, left[y * WIDTH + x] / mean));
    }

    /** Electrons in a dot that densities are multiples of. */
    static double mean(long particleCount) {
        return Math.max(1, particleCount / (double) (WIDTH * 8));
    }

    /** Red, green and blue, 0 to 255, of a dot with these densities of both beams. */
    static int[] colour(double rightDensity, double leftDensity) {
        double r = brightness(rightDensity);
        double l = brightness(leftDensity);
        int[] colour = new int[BACKGROUND.length];
        for (int i = 0; i < colour.length; i++) {
            double value =
                    BACKGROUND[i]
                            + r * (RIGHT_COLOUR[i] - BACKGROUND[i])
                            + l * (LEFT_COLOUR[i] - BACKGROUND[i]);
            colour[i] = (int) Math.max(0, Math.min(255, Math.round(value)));
        }
        return colour;
    }

    private static double brightness(double density) {
        return Math.pow(1 - Math.exp(-density), 0.55);
    }
}
