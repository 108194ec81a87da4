package dev.verbena.examples.pic;

import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.agrona.MutableDirectBuffer;

/** One process of a run. One thread. */
public final class PicSimulation {
    private final PicParameters parameters;
    private final int rank;
    private final int processCount;
    private final PicExchange exchange;
    private final PicGrid grid;
    private final PicParticles particles;
    private final long[] shared;
    private final List<PicSample> samples = new ArrayList<>();
    private long step;

    private PicSimulation(
            PicParameters parameters, int rank, int processCount, PicExchange exchange) {
        if (rank < 0 || rank >= processCount) {
            throw new IllegalArgumentException(
                    "rank " + rank + " is outside 0 to " + (processCount - 1));
        }
        this.parameters = parameters;
        this.rank = rank;
        this.processCount = processCount;
        this.exchange = exchange;
        this.grid = new PicGrid(parameters);
        long first = parameters.firstParticle(rank, processCount);
        long end = parameters.firstParticle(rank + 1, processCount);
        this.particles = new PicParticles(parameters, Math.toIntExact(end - first));
        this.shared = new long[sharedLength(parameters)];
    }

    /** Values that one {@link PicExchange#sum} of a run has. */
    public static int sharedLength(PicParameters parameters) {
        return parameters.cellCount() + 4;
    }

    /** Begins a run. All processes call this. */
    public static PicSimulation start(
            PicParameters parameters, int rank, int processCount, PicExchange exchange) {
        PicSimulation simulation = new PicSimulation(parameters, rank, processCount, exchange);
        simulation.particles.load(parameters.firstParticle(rank, processCount));
        simulation.depositAndSolve();
        simulation.particles.kick(simulation.grid.field, -0.5);
        return simulation;
    }

    /**
     * Continues a run. All processes call this, each with its own file of the same step.
     *
     * @throws IllegalArgumentException naming what in the file belongs to another run
     */
    public static PicSimulation resume(
            PicParameters parameters,
            int rank,
            int processCount,
            RestartFile file,
            PicExchange exchange) {
        file.requireRun(parameters, rank, processCount);
        PicSimulation simulation = new PicSimulation(parameters, rank, processCount, exchange);
        System.arraycopy(file.places(), 0, simulation.particles.place, 0, file.places().length);
        System.arraycopy(file.speeds(), 0, simulation.particles.speed, 0, file.speeds().length);
        simulation.samples.addAll(file.samples());
        simulation.step = file.step();
        simulation.depositAndSolve();
        return simulation;
    }

    /** One time step. Afterwards {@link #samples()} has one more entry. */
    public void advance() {
        double fieldEnergy = grid.energy();
        double amplitude = grid.amplitude(1);
        particles.advance(grid.field);
        depositAndSolve();
        int cells = parameters.cellCount();
        long energy = shared[cells + 2];
        long momentum = shared[cells + 3];
        samples.add(PicSample.of(parameters, step, fieldEnergy, energy, momentum, amplitude));
        step++;
    }

    private void depositAndSolve() {
        Arrays.fill(shared, 0);
        particles.deposit(shared);
        grid.fold(shared);
        shared[parameters.cellCount() + 2] = particles.energySum;
        shared[parameters.cellCount() + 3] = particles.momentumSum;
        exchange.sum(shared);
        grid.solve(shared);
    }

    /** Steps done since the beginning of the run. */
    public long step() {
        return step;
    }

    /** Diagnostics of every step done, equal in all processes. */
    public List<PicSample> samples() {
        return Collections.unmodifiableList(samples);
    }

    /**
     * Copies the field at the grid points: little-endian doubles, one for each cell.
     *
     * @param to has room for them
     */
    public void copyField(MutableDirectBuffer to) {
        for (int i = 0; i < parameters.cellCount(); i++) {
            to.putDouble(i * Double.BYTES, grid.field[i], ByteOrder.LITTLE_ENDIAN);
        }
    }

    /** The present state, to be written by {@link RestartFile#write}. Not a copy. */
    public RestartFile restartFile() {
        return new RestartFile(
                parameters,
                rank,
                processCount,
                step,
                Collections.unmodifiableList(samples),
                grid.field,
                particles.place,
                particles.speed);
    }
}
