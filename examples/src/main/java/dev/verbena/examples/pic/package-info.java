/**
 * A one-dimensional electrostatic particle-in-cell code, small and complete: the simulation of
 * {@code verbena demo}.
 *
 * <p>Two beams of electrons move through each other over a background of fixed ions. Particles are
 * shared out by number, not by place: each process holds the same number of particles for the whole
 * run, every process holds the whole grid. A step needs one sum over all processes ({@link
 * dev.verbena.examples.pic.PicExchange}): the charge on the grid and two diagnostics.
 *
 * <p>All sums over particles are sums of integers (charge in units of 2<sup>-30</sup> of a
 * particle). Integer addition is associative, so every number of the run is the same, bit for bit,
 * for any number of processes, on any machine and after a restart. Elementary functions come from
 * {@link java.lang.StrictMath}.
 *
 * <p>Units: plasma frequency, electron mass, permittivity and mean electron density are 1.
 *
 * <p>Sources: C. K. Birdsall and A. B. Langdon, <i>Plasma Physics via Computer Simulation</i>
 * (leapfrog, linear weighting, two-stream dispersion); C. Docan, M. Parashar, S. Klasky, the DART
 * report (restart files of 8.5 MB every fourth step, buffered and unbuffered).
 */
package dev.verbena.examples.pic;
