package dev.verbena.flesnet.source;

import dev.verbena.staging.Arguments;

/**
 * What a {@link DatagramSource} may be sent.
 *
 * @param count microslices in all, from number 0
 * @param gapMax so many may be missing before one that is believed
 * @param silenceNs after the first, so long a silence ends the stream; what is missing is filled up
 */
public record DatagramLimits(long count, int gapMax, long silenceNs) {
    /** Checks. */
    public DatagramLimits {
        Arguments.range("count", count, 1, Long.MAX_VALUE);
        Arguments.range("gapMax", gapMax, 0, 1 << 20);
        Arguments.range("silenceNs", silenceNs, 1_000_000, Long.MAX_VALUE);
    }
}
