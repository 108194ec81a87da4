/**
 * Two simulations coupled through the staging service: each computes one half of a heated rod, on
 * two processes; a coupler at the receiver hands boundary values on, changes how often they write
 * output, ends them, and compares what they computed with the whole rod computed at once, bit for
 * bit. Run {@link dev.verbena.examples.heat.CoupledHeat}.
 */
package dev.verbena.examples.heat;
