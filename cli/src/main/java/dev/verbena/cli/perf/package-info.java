/** {@code verbena lat} and {@code bw} over any transport. */
package dev.verbena.cli.perf;
