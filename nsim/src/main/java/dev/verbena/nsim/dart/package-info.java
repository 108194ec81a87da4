/**
 * DART in a simulated world: the agents of {@code dev.verbena.dart}, from the same class files as
 * on hardware, on a modelled network in virtual time.
 *
 * <p>{@link dev.verbena.nsim.dart.DartSimulation} answers where the time of a staging run goes;
 * {@link dev.verbena.nsim.dart.DartSweep} looks for schedules and faults that break a promise.
 */
package dev.verbena.nsim.dart;
