package dev.verbena.nessie.rpc;

/** Where a request is at the server. */
enum Phase {
    FREE,
    FETCHING_ARGS,
    QUEUED,
    RUNNING,
    REPLYING,
    AWAITING_ACK,
    /** Answered, but its handler has not returned yet. */
    ENDED,
    /** Its client is gone and its handler has never answered. */
    ABANDONED
}
