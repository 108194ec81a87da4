package dev.verbena.nessie.nnti;

/**
 * How a transport is used.
 *
 * @param hasTargetEvents whether puts and gets raise an event at their target, too
 * @param variableCount 64-bit variables that peers may change atomically; 0: none
 * @param sendSlotCount messages that may be under way at a time
 * @param peersMax connections at a time
 */
public record NntiOptions(
        boolean hasTargetEvents, int variableCount, int sendSlotCount, int peersMax) {
    /** Target events, 64 variables, 256 messages, 256 peers. */
    public static final NntiOptions DEFAULT = new NntiOptions(true, 64, 256, 256);

    /** Without target events. */
    public static final NntiOptions ONE_SIDED = new NntiOptions(false, 64, 256, 256);
}
