/** The simulator on the command line: {@code verbena sim}. */
package dev.verbena.cli.sim;
