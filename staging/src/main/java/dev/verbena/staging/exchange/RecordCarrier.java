package dev.verbena.staging.exchange;

import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

/**
 * Carries records of an {@link ExchangeSchedule} between the senders of an exchange, by whatever
 * means the program has. Called on a sender's thread; never waits.
 */
public interface RecordCarrier {
    /** For the only sender of an exchange. */
    RecordCarrier NONE =
            new RecordCarrier() {
                @Override
                public void send(DirectBuffer record) {
                    // Nobody else is there.
                }

                @Override
                public boolean receive(MutableDirectBuffer record) {
                    return false;
                }
            };

    /** Sends a record to every other sender; the buffer is the caller's again afterwards. */
    void send(DirectBuffer record);

    /**
     * Copies the next record of another sender to the begin of a buffer.
     *
     * @return false if none has come
     */
    boolean receive(MutableDirectBuffer record);
}
