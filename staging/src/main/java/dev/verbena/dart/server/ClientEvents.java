package dev.verbena.dart.server;

/** What becomes of the clients of a server, for the part of t1 that transfers. */
interface ClientEvents {
    /** Taken on for the first time, and told so: its slot is its own. */
    void onTaken(ServedClient client);

    /** Gone: nothing more comes of it. */
    void onDropped(ServedClient client);

    /** A client for which this server only pulls can be reached now. */
    void onReached(ServedClient client);
}
