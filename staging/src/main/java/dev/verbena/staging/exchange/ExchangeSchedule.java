package dev.verbena.staging.exchange;

import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

/**
 * What one sender of an all-to-all exchange sends next, and when. Messages are numbered from 0 and
 * are sent in that order. What a sender measures must be carried to all senders, itself too, as
 * records of {@link #RECORD_LENGTH} bytes. Times are nanoseconds on the caller's clock. One thread.
 */
public interface ExchangeSchedule {
    /** Bytes of a record. */
    int RECORD_LENGTH = 40;

    /** {@link #dueNs} of a message that may not be sent before something else has happened. */
    long NOT_OPEN = Long.MAX_VALUE;

    /** Number of receivers. */
    int receivers();

    /** Receiver of message {@code k}, from 0. */
    int receiver(long k);

    /**
     * When message {@code k} may be sent; at or before {@code nowNs}: now.
     *
     * @return {@link #NOT_OPEN} if acknowledgements must come first
     */
    long dueNs(long k, long nowNs);

    /** Message {@code k} was sent. */
    void onSent(long k, long nowNs);

    /** Message {@code k} has arrived. */
    void onAcknowledged(long k, long nowNs);

    /**
     * Writes the next record.
     *
     * @return false if there is none
     */
    boolean takeRecord(MutableDirectBuffer buffer, int offset, long nowNs);

    /**
     * A record of a sender came, or of this one.
     *
     * @param latencyNs how long it travelled
     * @throws IllegalArgumentException if it cannot be one of this exchange
     */
    void onRecord(DirectBuffer buffer, int offset, long latencyNs, long nowNs);
}
