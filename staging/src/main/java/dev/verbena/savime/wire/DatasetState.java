package dev.verbena.savime.wire;

/** States of a staged dataset as they travel and as meta files name them (section 5.1). */
public enum DatasetState {
    /** Blocks arrive. */
    RECEIVING(1),
    /** Complete, in the queue. */
    RECEIVED(2),
    /** A sender has it. */
    FORWARDING(3),
    /** The sink has it. */
    FORWARDED(4),
    /** Given up before it was complete. */
    ABORTED(5),
    /** The sink has refused it. */
    FAILED(6),
    /** The sink cannot be reached; it is tried again. */
    HELD(7);

    private static final DatasetState[] VALUES = values();

    private final int code;

    DatasetState(int code) {
        this.code = code;
    }

    /** As it travels. */
    public int code() {
        return code;
    }

    /**
     * The state of this code.
     *
     * @throws IllegalArgumentException if there is none
     */
    public static DatasetState of(int code) {
        if (code < 1 || code > VALUES.length) {
            throw new IllegalArgumentException("dataset state " + code + " is unknown");
        }
        return VALUES[code - 1];
    }
}
