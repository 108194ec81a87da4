package dev.verbena.nessie.rpc;

/** What a handler asks the server's thread to do. */
enum Command {
    GET,
    PUT,
    /** The client puts. */
    ASK,
    REPLY
}
