/**
 * What the demo's receiver does with the restart files while the simulation goes on: checks them,
 * computes physics from them, and writes a report for people and a summary for programs.
 *
 * <p>{@link dev.verbena.cli.demo.transit.RunAnalysis} gets restart files in any order. As soon as
 * all processes' files of a step are there it deposits all particles on the grid again, solves for
 * the field and sums energies: numbers that the simulation computed as well, by the same
 * arithmetic, so that they must agree to the last bit. It keeps a picture of phase space and
 * forgets the particles, so memory stays flat.
 *
 * <p>{@link dev.verbena.cli.demo.transit.Report} makes one self-contained HTML file: pictures are
 * PNG and SVG inside it, there is nothing to load from elsewhere.
 */
package dev.verbena.cli.demo.transit;
