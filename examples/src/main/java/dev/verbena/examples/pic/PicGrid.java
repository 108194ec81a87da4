package dev.verbena.examples.pic;

/**
 * The periodic grid: charge in, electric field out. Charge is counted in integers, {@link
 * #PARTICLE_CHARGE} a particle, so that the order of deposits does not matter.
 */
final class PicGrid {
    static final int CHARGE_BITS = 30;

    /** What one particle deposits, shared between two neighbouring cells. */
    static final long PARTICLE_CHARGE = 1L << CHARGE_BITS;

    static final double CHARGE_UNIT = 1.0 / PARTICLE_CHARGE;

    private final int cellCount;
    private final double cellLength;
    private final long particleCount;
    private final long[] prefix;

    /** Field at cell boundaries; two more entries repeat the first two. */
    final double[] field;

    PicGrid(PicParameters parameters) {
        this.cellCount = parameters.cellCount();
        this.cellLength = parameters.length() / cellCount;
        this.particleCount = parameters.particleCount();
        this.prefix = new long[cellCount];
        this.field = new double[cellCount + 2];
    }

    /** Adds what fell past the end to the beginning. {@code charge} has two more entries. */
    void fold(long[] charge) {
        charge[0] += charge[cellCount];
        charge[1] += charge[cellCount + 1];
        charge[cellCount] = 0;
        charge[cellCount + 1] = 0;
    }

    /**
     * Solves Gauss's law dE/dx = 1 - n for the field of zero mean. A running sum gives the field
     * between the grid points (what a three-point Poisson solver gives), the mean of two neighbours
     * the field at them.
     *
     * @param charge of all processes, folded
     * @throws IllegalStateException if particles were lost
     */
    void solve(long[] charge) {
        long total = 0;
        for (int i = 0; i < cellCount; i++) {
            total += charge[i];
            prefix[i] = total;
        }
        if (total != particleCount * PARTICLE_CHARGE) {
            throw new IllegalStateException(
                    "the charge on the grid is %s particles; there are %s"
                            .formatted(total * CHARGE_UNIT, particleCount));
        }
        double cellMean = (double) particleCount / cellCount;
        double scale = cellLength / cellMean;
        double mean = 0;
        for (int i = 0; i < cellCount; i++) {
            mean += between(i, cellMean, scale);
        }
        mean /= cellCount;
        double left = between(cellCount - 1, cellMean, scale) - mean;
        for (int i = 0; i < cellCount; i++) {
            double right = between(i, cellMean, scale) - mean;
            field[i] = 0.5 * (left + right);
            left = right;
        }
        field[cellCount] = field[0];
        field[cellCount + 1] = field[1];
    }

    private double between(int i, double cellMean, double scale) {
        return scale * ((i + 1) * cellMean - prefix[i] * CHARGE_UNIT);
    }

    /** Energy of the field. */
    double energy() {
        double sum = 0;
        for (int i = 0; i < cellCount; i++) {
            sum += field[i] * field[i];
        }
        return 0.5 * sum * cellLength;
    }

    /** Amplitude of one Fourier mode of the field. */
    double amplitude(int mode) {
        double cosine = 0;
        double sine = 0;
        for (int i = 0; i < cellCount; i++) {
            double angle = 2 * Math.PI * ((long) i * mode % cellCount) / cellCount;
            cosine += field[i] * StrictMath.cos(angle);
            sine += field[i] * StrictMath.sin(angle);
        }
        return 2 * Math.sqrt(cosine * cosine + sine * sine) / cellCount;
    }
}
