package dev.verbena.examples.pic;

import java.util.ArrayList;
import java.util.List;

/**
 * Growth rate measured from the energy of the field: a straight line through its logarithm in the
 * linear phase, where the energy grows as exp(2 g t).
 *
 * @param rate of the amplitude; half the slope of the energy's logarithm
 * @param from first time used
 * @param to last time used
 * @param sampleCount samples used
 * @param offset logarithm of the energy that the line has at time 0
 */
public record GrowthFit(double rate, double from, double to, int sampleCount, double offset) {
    /** Fewest samples of a fit. */
    public static final int SAMPLE_COUNT_MIN = 4;

    /** Linear phase: from this part of the energy at the end of growth... */
    private static final double LOW = 1e-3;

    /** ...to this part. */
    private static final double HIGH = 4e-2;

    /**
     * Fits.
     *
     * @param samples in order of time
     * @return null if the run has too few samples in the linear phase, or has not left it
     */
    public static GrowthFit of(List<PicSample> samples) {
        int peak = firstPeak(samples);
        if (peak < 0) {
            return null;
        }
        double top = samples.get(peak).fieldEnergy();
        List<PicSample> linear = new ArrayList<>();
        for (int i = peak - 1; i >= 0; i--) {
            double energy = samples.get(i).fieldEnergy();
            boolean growing = energy < samples.get(i + 1).fieldEnergy();
            if (!growing || energy < LOW * top) {
                break;
            }
            if (energy <= HIGH * top) {
                linear.add(0, samples.get(i));
            }
        }
        return linear.size() < SAMPLE_COUNT_MIN ? null : line(linear);
    }

    /** The first sample at which the energy has stopped to grow for good: the top of growth. */
    private static int firstPeak(List<PicSample> samples) {
        double top = 0;
        for (PicSample sample : samples) {
            top = Math.max(top, sample.fieldEnergy());
        }
        for (int i = 1; i < samples.size() - 1; i++) {
            double energy = samples.get(i).fieldEnergy();
            if (energy >= 0.5 * top && samples.get(i + 1).fieldEnergy() < energy) {
                return i;
            }
        }
        return -1;
    }

    private static GrowthFit line(List<PicSample> samples) {
        double meanTime = 0;
        double meanLog = 0;
        for (PicSample sample : samples) {
            meanTime += sample.time();
            meanLog += Math.log(sample.fieldEnergy());
        }
        meanTime /= samples.size();
        meanLog /= samples.size();
        double product = 0;
        double square = 0;
        for (PicSample sample : samples) {
            double time = sample.time() - meanTime;
            product += time * (Math.log(sample.fieldEnergy()) - meanLog);
            square += time * time;
        }
        double slope = product / square;
        return new GrowthFit(
                slope / 2,
                samples.get(0).time(),
                samples.get(samples.size() - 1).time(),
                samples.size(),
                meanLog - slope * meanTime);
    }
}
