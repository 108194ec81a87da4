package dev.verbena.flesnet.source;

/**
 * Counts of a {@link DatagramSource} since its start. Any thread; values may be of different
 * moments. What the kernel drops, because the socket's buffer is full, shows as missing.
 *
 * @param taken microslices that came
 * @param missing that did not come in time; an empty, flagged one keeps the place of each
 * @param malformed datagrams that are no microslice, or whose checksum is wrong
 * @param late microslices that came twice, or after a later one
 * @param beyond microslices too far ahead to be believed, or beyond the stream's end
 * @param strangers datagrams of another address than was allowed
 */
public record DatagramCounts(
        long taken, long missing, long malformed, long late, long beyond, long strangers) {}
