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

    /** Field and particles together. */
    public double totalEnergy() {
        return fieldEnergy + kineticEnergy;
    }
}
