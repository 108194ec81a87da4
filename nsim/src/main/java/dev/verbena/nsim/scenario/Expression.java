package dev.verbena.nsim.scenario;

/** A whole number that a scenario file computes. */
@FunctionalInterface
interface Expression {
    long of(Frame frame);
}
