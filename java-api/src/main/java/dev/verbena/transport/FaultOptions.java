package dev.verbena.transport;

/**
 * Which faults a {@link FaultyTransport} makes, and how often. Rates are probabilities from 0 to 1.
 *
 * @param seed the same seed and the same calls give the same faults
 * @param backPressureRate a posting call or a connect answers {@code BACK_PRESSURED}
 * @param delayRate an event is held back
 * @param delayPollsMax for how many polls at most; messages of a connection keep their order
 * @param spuriousWakeupRate {@code await} returns at once though there is nothing
 * @param registrationFailureRate {@code allocate} and {@code register} throw
 * @param connectFailureRate a connection that was made is reported as failed by time-out
 * @param peerDeathAtStep the connection of this posting call (counted from 1) dies before it is
 *     posted; 0: none does
 */
public record FaultOptions(
        long seed,
        double backPressureRate,
        double delayRate,
        int delayPollsMax,
        double spuriousWakeupRate,
        double registrationFailureRate,
        double connectFailureRate,
        long peerDeathAtStep) {

    /** No fault at all. */
    public static FaultOptions none(long seed) {
        return new FaultOptions(seed, 0, 0, 0, 0, 0, 0, 0);
    }

    /**
     * Checks all values.
     *
     * @throws IllegalArgumentException naming the value and its range
     */
    public FaultOptions {
        rate("backPressureRate", backPressureRate);
        rate("delayRate", delayRate);
        rate("spuriousWakeupRate", spuriousWakeupRate);
        rate("registrationFailureRate", registrationFailureRate);
        rate("connectFailureRate", connectFailureRate);
        if (delayPollsMax < 0 || peerDeathAtStep < 0) {
            throw new IllegalArgumentException(
                    "delayPollsMax %s and peerDeathAtStep %s must not be negative"
                            .formatted(delayPollsMax, peerDeathAtStep));
        }
    }

    private static void rate(String what, double value) {
        if (!(value >= 0 && value <= 1)) {
            throw new IllegalArgumentException(what + " " + value + " is outside 0 to 1");
        }
    }

    /** These with another rate of back pressure. */
    public FaultOptions backPressure(double rate) {
        return new FaultOptions(
                seed,
                rate,
                delayRate,
                delayPollsMax,
                spuriousWakeupRate,
                registrationFailureRate,
                connectFailureRate,
                peerDeathAtStep);
    }

    /** These with another rate and length of delays. */
    public FaultOptions delay(double rate, int pollsMax) {
        return new FaultOptions(
                seed,
                backPressureRate,
                rate,
                pollsMax,
                spuriousWakeupRate,
                registrationFailureRate,
                connectFailureRate,
                peerDeathAtStep);
    }

    /** These with another rate of spurious wake-ups. */
    public FaultOptions spuriousWakeup(double rate) {
        return new FaultOptions(
                seed,
                backPressureRate,
                delayRate,
                delayPollsMax,
                rate,
                registrationFailureRate,
                connectFailureRate,
                peerDeathAtStep);
    }

    /** These with another rate of failed registrations. */
    public FaultOptions registrationFailure(double rate) {
        return new FaultOptions(
                seed,
                backPressureRate,
                delayRate,
                delayPollsMax,
                spuriousWakeupRate,
                rate,
                connectFailureRate,
                peerDeathAtStep);
    }

    /** These with another rate of failed connects. */
    public FaultOptions connectFailure(double rate) {
        return new FaultOptions(
                seed,
                backPressureRate,
                delayRate,
                delayPollsMax,
                spuriousWakeupRate,
                registrationFailureRate,
                rate,
                peerDeathAtStep);
    }

    /** These with the death of a peer at a step. */
    public FaultOptions peerDeath(long step) {
        return new FaultOptions(
                seed,
                backPressureRate,
                delayRate,
                delayPollsMax,
                spuriousWakeupRate,
                registrationFailureRate,
                connectFailureRate,
                step);
    }
}
