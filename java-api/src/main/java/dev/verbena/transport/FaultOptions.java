package dev.verbena.transport;

/**
 * Which faults a {@link FaultyTransport} makes, and how often. Rates are probabilities from 0 to 1;
 * another one is refused with an {@link IllegalArgumentException}. Fluent; one thread, until it is
 * given to a transport.
 */
public final class FaultOptions {
    final long seed;
    double backPressureRate;
    double delayRate;
    int delayPollsMax;
    double spuriousWakeupRate;
    double registrationFailureRate;
    double connectFailureRate;
    long peerDeathAtStep;

    private FaultOptions(long seed) {
        this.seed = seed;
    }

    /**
     * No fault at all.
     *
     * @param seed the same seed and the same calls give the same faults
     */
    public static FaultOptions none(long seed) {
        return new FaultOptions(seed);
    }

    private static double checked(String what, double rate) {
        if (!(rate >= 0 && rate <= 1)) {
            throw new IllegalArgumentException(what + " " + rate + " is outside 0 to 1");
        }
        return rate;
    }

    /** A posting call or a connect answers {@code BACK_PRESSURED}. */
    public FaultOptions backPressure(double rate) {
        backPressureRate = checked("backPressureRate", rate);
        return this;
    }

    /**
     * An event is held back.
     *
     * @param pollsMax for how many polls at most; messages of a connection keep their order
     */
    public FaultOptions delay(double rate, int pollsMax) {
        if (pollsMax < 0) {
            throw new IllegalArgumentException("pollsMax " + pollsMax + " is negative");
        }
        delayRate = checked("delayRate", rate);
        delayPollsMax = pollsMax;
        return this;
    }

    /** {@code await} returns at once though there is nothing. */
    public FaultOptions spuriousWakeup(double rate) {
        spuriousWakeupRate = checked("spuriousWakeupRate", rate);
        return this;
    }

    /** {@code allocate} and {@code register} throw. */
    public FaultOptions registrationFailure(double rate) {
        registrationFailureRate = checked("registrationFailureRate", rate);
        return this;
    }

    /** A connection that was made is reported as failed by time-out. */
    public FaultOptions connectFailure(double rate) {
        connectFailureRate = checked("connectFailureRate", rate);
        return this;
    }

    /**
     * The connection of a posting call dies before that is posted.
     *
     * @param step which posting call, counted from 1; 0: none
     */
    public FaultOptions peerDeath(long step) {
        if (step < 0) {
            throw new IllegalArgumentException("step " + step + " is negative");
        }
        peerDeathAtStep = step;
        return this;
    }

    @Override
    public String toString() {
        return ("seed %s, back-pressure %s, delay %s of up to %s polls, spurious wake-ups %s,"
                        + " registrations that fail %s, connects that fail %s, peer death at %s")
                .formatted(
                        seed,
                        backPressureRate,
                        delayRate,
                        delayPollsMax,
                        spuriousWakeupRate,
                        registrationFailureRate,
                        connectFailureRate,
                        peerDeathAtStep);
    }
}
