/**
 * Transfers between this process and another, for {@code lat}, {@code bw}, the doctor and the
 * experiments.
 */
package dev.verbena.cli.transfer;
