package dev.verbena.dart.step;

/**
 * For which step the next message of a stream has to wait, and since when.
 *
 * @param frame with which the message begins
 */
public record StepWait(long frame, long sinceNs, StepGroup group, long step, int rank) {
    /** Of a stream whose messages never had to. */
    public static final StepWait NONE = new StepWait(0, 0, null, 0, 0);
}
