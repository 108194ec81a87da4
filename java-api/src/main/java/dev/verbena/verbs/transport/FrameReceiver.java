package dev.verbena.verbs.transport;

/** Where the side-channel loop's frames go; called on the side-channel loop's thread. */
interface FrameReceiver {
    void deliver(ChannelFrame frame);

    /** How many of those were not read yet. */
    default int unreadCount() {
        return 0;
    }

    /** About once a second, for what the owner has to look after by itself. */
    default void tick() {}
}
