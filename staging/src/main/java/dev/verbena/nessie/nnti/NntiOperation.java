package dev.verbena.nessie.nnti;

/** Kinds of operation in a {@link NntiStatus}: first those of an initiator, then of a target. */
public enum NntiOperation {
    SEND,
    PUT,
    GET,
    FETCH_ADD,
    COMPARE_SWAP,
    RECEIVE,
    TARGET_PUT,
    TARGET_GET
}
