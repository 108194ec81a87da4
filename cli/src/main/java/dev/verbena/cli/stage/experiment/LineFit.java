package dev.verbena.cli.stage.experiment;

import java.util.Arrays;

/**
 * A straight line by least squares.
 *
 * @param square R², the part of the variance that it explains
 */
record LineFit(double offset, double slope, double square) {
    /** At least two different x. */
    static LineFit of(double[] xs, double[] ys) {
        double meanX = Arrays.stream(xs).average().orElse(0);
        double meanY = Arrays.stream(ys).average().orElse(0);
        double product = 0;
        double squareX = 0;
        double squareY = 0;
        for (int i = 0; i < xs.length; i++) {
            product += (xs[i] - meanX) * (ys[i] - meanY);
            squareX += (xs[i] - meanX) * (xs[i] - meanX);
            squareY += (ys[i] - meanY) * (ys[i] - meanY);
        }
        double slope = product / squareX;
        return new LineFit(meanY - slope * meanX, slope, product * product / (squareX * squareY));
    }

    double[] at(double[] xs) {
        return Arrays.stream(xs).map(x -> offset + slope * x).toArray();
    }
}
