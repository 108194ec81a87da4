package dev.verbena.examples.pic;

/**
 * Diagnostics of one step, over all processes.
 *
 * @param step number of the step
 * @param time since the start, in units of 1 / plasma frequency
 * @param fieldEnergy energy of the electric field
 * @param kineticEnergy of all particles, at the same time as the field
 * @param momentum of all particles
 * @param amplitude of the first Fourier mode of the field
 */
public record PicSample(
        long step,
        double time,
        double fieldEnergy,
        double kineticEnergy,
        double momentum,
        double amplitude) {

    /** Numbers of a sample when written to a restart file. */
    static final int VALUE_COUNT = 6;

    /**
     * From what {@link PicParticles} sums up.
     *
     * @param energySum of all particles
     * @param momentumSum of all particles
     */
    static PicSample of(
            PicParameters parameters,
            long step,
            double fieldEnergy,
            long energySum,
            long momentumSum,
            double amplitude) {
        double scale = parameters.length() / parameters.particleCount();
        scale /= PicParticles.energyScale(parameters);
        return new PicSample(
                step,
                step * parameters.timeStep(),
                fieldEnergy,
                0.5 * scale * energySum,
                scale * momentumSum,
                amplitude);
    }

    /** Field and particles together. */
    public double totalEnergy() {
        return fieldEnergy + kineticEnergy;
    }
}
