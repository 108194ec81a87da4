/**
 * A simulation that is analysed and steered by SQL while it runs: {@code verbena stage demo}.
 *
 * <p>The particle-in-cell code ({@link dev.verbena.examples.pic}) stages its field and the energy
 * of its particles in every step. A staging server hands them to a database. The simulation asks
 * that database, without waiting, how the field grows, and ends when it no longer does.
 */
package dev.verbena.examples.intransit;
