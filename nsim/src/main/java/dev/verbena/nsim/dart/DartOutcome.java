package dev.verbena.nsim.dart;

/**
 * How one case of a sweep went.
 *
 * @param failure the promise that was broken; empty: none
 * @param traceHash the same for the same case, event by event
 * @param virtualNs virtual time that it took
 * @param delivered messages handed over by the receiver
 * @param failed messages whose tickets say that they failed
 */
public record DartOutcome(
        String failure, long traceHash, long virtualNs, long delivered, long failed) {}
