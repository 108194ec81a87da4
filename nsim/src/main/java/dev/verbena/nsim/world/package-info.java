/**
 * The real protocol code in virtual time: hosts on a modelled network, processes that are agents,
 * and everything that they touch. A {@link dev.verbena.nsim.world.World} has a clock of its own;
 * {@link dev.verbena.nsim.world.SimulatedProcess} is the environment of one process on one host:
 * clocks with skew and drift, chance from the seed, the transport contract over the network model,
 * byte streams, disks that forget what was not forced.
 *
 * <p>Nothing runs on threads. A process is stepped when an event, a deadline or a wake-up is due,
 * and each step is an event of the engine, so that a run depends on its input and seed alone.
 * Whoever polls or waits outside of a run lets time pass: so the contract suite and blocking calls
 * of user programs work, from one thread deterministically too.
 *
 * <p>Bytes of an operation are in memory when the model says that the last of them has arrived.
 * Source: nsim-ace.md, section 7.
 */
package dev.verbena.nsim.world;
