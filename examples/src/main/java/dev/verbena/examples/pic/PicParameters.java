package dev.verbena.examples.pic;

/**
 * What a run computes. Checked by {@link PicDeck}; two runs with equal parameters give equal bits.
 *
 * @param particleCount of all processes together; even, half of them in each beam
 * @param cellCount cells of the periodic grid
 * @param length of the box
 * @param timeStep in units of 1 / plasma frequency
 * @param beamSpeed drift of the beams, to the right and to the left
 * @param thermalSpeed standard deviation of speeds within a beam, 0 for cold beams
 * @param perturbation relative amplitude of the charge ripple at the start
 * @param seed of the thermal speeds
 */
public record PicParameters(
        long particleCount,
        int cellCount,
        double length,
        double timeStep,
        double beamSpeed,
        double thermalSpeed,
        double perturbation,
        long seed) {

    /** Most particles of a run: charge sums then stay below 2^62. */
    public static final long PARTICLE_COUNT_MAX = 1L << 32;

    /** Wave number of the first mode: one wave in the box. */
    public double waveNumber() {
        return 2 * Math.PI / length;
    }

    /** First particle of a process when particles are shared out evenly. */
    public long firstParticle(int rank, int processCount) {
        return Math.multiplyExact(particleCount, rank) / processCount;
    }

    /** Scrambles 64 bits; every output bit depends on every input bit. */
    static long mix(long value) {
        long z = (value ^ (value >>> 32)) * 0xD6E8FEB86659FD93L;
        z = (z ^ (z >>> 32)) * 0xD6E8FEB86659FD93L;
        return z ^ (z >>> 32);
    }
}
