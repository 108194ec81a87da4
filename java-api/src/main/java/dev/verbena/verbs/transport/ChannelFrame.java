package dev.verbena.verbs.transport;

import java.nio.ByteBuffer;

/**
 * What the side-channel loop tells a transport's owner.
 *
 * @param kind of {@link Frames}, or {@link #ENDED}
 * @param body of the frame, little-endian; null when ended
 * @param status when ended, for a connection that was being made
 * @param reason when ended, for people
 */
record ChannelFrame(PeerChannel channel, byte kind, ByteBuffer body, int status, String reason) {
    /** The socket is closed; nothing more comes from this channel. */
    static final byte ENDED = 0;
}
