/**
 * Chaos: a staging run of real processes under kills, stops, broken and stalled streams and a full
 * disk, after which every byte at the receiver is compared.
 */
package dev.verbena.cli.chaos;
