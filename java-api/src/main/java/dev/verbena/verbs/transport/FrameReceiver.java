package dev.verbena.verbs.transport;

/** Where the side-channel loop's frames go; called on the side-channel loop's thread. */
interface FrameReceiver {
    void deliver(ChannelFrame frame);

    /** About once a second, for what the owner has to look after by itself. */
    default void tick() {}
}
