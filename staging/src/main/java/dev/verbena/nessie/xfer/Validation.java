package dev.verbena.nessie.xfer;

/** How the receiver of an array makes sure of its bytes (specification, section 3.2). */
public enum Validation {
    /**
     * Not at all: a client fills an array once, a server puts zeros. What a server encodes ({@code
     * READ_ENCODE}) is open: zeros, or what seeds of earlier requests gave.
     */
    NONE,
    /** Compares each element with what its seed gives. */
    FULL,
    /** Both ends compute the CRC-32C of the array in memory, and the client compares. */
    CRC
}
