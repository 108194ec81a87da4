package dev.verbena.verbs.transport;

/** Where the keeper's letters go; called on the keeper's thread. */
interface Mailbox {
    void deliver(Letter letter);
}
