package dev.verbena.examples.pic;

import java.util.List;

/**
 * Physics of one step, computed from the restart files of all its processes: the charge is
 * deposited again, the field solved for again, energies summed again.
 */
public final class Snapshot {
    private Snapshot() {}

    /**
     * Computes.
     *
     * @param files of one step, in the order of ranks, complete
     * @throws RestartFileException if they do not belong together
     * @throws IllegalStateException if particles are missing or too fast
     */
    public static PicSample of(List<RestartFile> files) {
        RestartFile first = files.get(0);
        PicParameters parameters = first.parameters();
        PicGrid grid = new PicGrid(parameters);
        long[] charge = new long[parameters.cellCount() + 2];
        for (int rank = 0; rank < files.size(); rank++) {
            RestartFile file = files.get(rank);
            file.requireRun(parameters, rank, files.size());
            if (file.step() != first.step()) {
                throw new RestartFileException(
                        "rank " + rank + " is at step " + file.step() + ", not " + first.step());
            }
            particles(file).deposit(charge);
        }
        grid.fold(charge);
        grid.solve(charge);
        long energy = 0;
        long momentum = 0;
        for (RestartFile file : files) {
            PicParticles particles = particles(file);
            particles.measure(grid.field);
            energy += particles.energySum;
            momentum += particles.momentumSum;
        }
        return PicSample.of(
                parameters, first.step(), grid.energy(), energy, momentum, grid.amplitude(1));
    }

    private static PicParticles particles(RestartFile file) {
        return new PicParticles(file.parameters(), file.places(), file.speeds());
    }
}
