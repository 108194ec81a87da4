package dev.verbena.examples.pic;

/**
 * Particles of one process: places, speeds half a step earlier (leapfrog), and the loops over them.
 */
final class PicParticles {
    private final PicParameters parameters;
    private final double length;
    private final double cellsPerLength;
    private final double timeStep;
    private final double energyScale;
    private final double speedMax;

    final double[] place;
    final double[] speed;

    /** Sum of v^2 at the time of the field, times {@link #energyScale}; filled by advance. */
    long energySum;

    /** Sum of v, times {@link #energyScale}; filled by advance. */
    long momentumSum;

    PicParticles(PicParameters parameters, int count) {
        this(parameters, new double[count], new double[count]);
    }

    /** Particles that are there already; borrowed. */
    PicParticles(PicParameters parameters, double[] place, double[] speed) {
        this.parameters = parameters;
        this.length = parameters.length();
        this.cellsPerLength = parameters.cellCount() / parameters.length();
        this.timeStep = parameters.timeStep();
        this.speedMax = speedMax(parameters);
        this.energyScale = energyScale(parameters);
        this.place = place;
        this.speed = speed;
    }

    /** No particle gets faster than this in any sensible run; a faster one is reported. */
    static double speedMax(PicParameters parameters) {
        return 8 * (parameters.beamSpeed() + 2 * parameters.thermalSpeed() + 0.1);
    }

    /** The largest power of two that keeps sums of v^2 over all particles below 2^62. */
    static double energyScale(PicParameters parameters) {
        double largest =
                parameters.particleCount() * Math.pow(Math.max(1, speedMax(parameters)), 2);
        return Math.scalb(1.0, 61 - Math.getExponent(largest));
    }

    /**
     * Places and speeds of the particles from {@code first} on, both at time 0: evenly spaced, plus
     * the ripple that a growing wave of cold beams makes in each of them. In a beam of speed u the
     * wave field E exp(ikx + gt) displaces by -E / (g + iku)^2 and speeds up by -E / (g + iku).
     */
    void load(long first) {
        double k = parameters.waveNumber();
        double growth = TwoStreamTheory.growthRate(k, parameters.beamSpeed(), 0);
        double field = parameters.perturbation() / k;
        double ku = k * parameters.beamSpeed();
        double square = growth * growth + ku * ku;
        double perBeam = parameters.particleCount() / 2;
        for (int i = 0; i < place.length; i++) {
            long particle = first + i;
            int way = (particle & 1) == 0 ? 1 : -1;
            double even = (particle / 2 + 0.5) / perBeam * length;
            double sine = StrictMath.sin(k * even);
            double cosine = StrictMath.cos(k * even);
            double displaced = (growth * growth - ku * ku) * cosine + 2 * growth * way * ku * sine;
            double faster = growth * cosine + way * ku * sine;
            place[i] = wrap(even - field * displaced / (square * square));
            speed[i] =
                    way * parameters.beamSpeed()
                            - field * faster / square
                            + parameters.thermalSpeed() * normal(particle);
        }
    }

    private double normal(long particle) {
        if (parameters.thermalSpeed() == 0) {
            return 0;
        }
        long bits = PicParameters.mix(particle * 0x9E3779B97F4A7C15L + parameters.seed());
        double radius = ((bits >>> 11) + 1) * 0x1p-53;
        double angle = (PicParameters.mix(~bits) >>> 11) * 0x1p-53;
        return StrictMath.sqrt(-2 * StrictMath.log(radius)) * StrictMath.cos(2 * Math.PI * angle);
    }

    /** Adds the charge of all particles; {@code charge} has two entries more than cells. */
    void deposit(long[] charge) {
        for (double x : place) {
            double cells = x * cellsPerLength;
            int cell = (int) cells;
            long right = (long) ((cells - cell) * PicGrid.PARTICLE_CHARGE);
            charge[cell] += PicGrid.PARTICLE_CHARGE - right;
            charge[cell + 1] += right;
        }
    }

    /** Moves speeds by {@code steps} of a step in the field; 0.5 back brings leapfrog to start. */
    void kick(double[] field, double steps) {
        double factor = -timeStep * steps;
        for (int i = 0; i < place.length; i++) {
            speed[i] += factor * fieldAt(field, place[i]);
        }
    }

    private double fieldAt(double[] field, double x) {
        double cells = x * cellsPerLength;
        int cell = (int) cells;
        long right = (long) ((cells - cell) * PicGrid.PARTICLE_CHARGE);
        return field[cell] + (field[cell + 1] - field[cell]) * (right * PicGrid.CHARGE_UNIT);
    }

    /** Speeds by one step, diagnostics at the time of the field, places by one step. */
    void advance(double[] field) {
        pass(field, true);
    }

    /**
     * The diagnostics of {@link #advance}, changing nothing: for the analysis of a restart file.
     */
    void measure(double[] field) {
        pass(field, false);
    }

    private void pass(double[] field, boolean isMoving) {
        long energy = 0;
        long momentum = 0;
        double fastest = 0;
        for (int i = 0; i < place.length; i++) {
            double x = place[i];
            double before = speed[i];
            double after = before - timeStep * fieldAt(field, x);
            double centre = 0.5 * (before + after);
            energy += (long) (centre * centre * energyScale);
            momentum += (long) (centre * energyScale);
            fastest = Math.max(fastest, Math.abs(after));
            if (isMoving) {
                speed[i] = after;
                place[i] = wrap(x + after * timeStep);
            }
        }
        check(fastest);
        energySum = energy;
        momentumSum = momentum;
    }

    private void check(double fastest) {
        if (!(fastest <= speedMax)) {
            throw new IllegalStateException(
                    ("a particle has speed %s, more than %s: the run is unstable, "
                                    + "choose a smaller time.step or more cells")
                            .formatted(fastest, speedMax));
        }
    }

    private double wrap(double x) {
        if (x < 0) {
            double wrapped = x + length;
            return wrapped < length ? wrapped : 0;
        }
        return x < length ? x : x - length;
    }
}
