package dev.verbena.verbs.transport;

/** Where the keeper's letters go; called on the keeper's thread. */
interface Mailbox {
    void deliver(Letter letter);

    /** About once a second, for what the owner has to look after by itself. */
    default void tick() {}
}
