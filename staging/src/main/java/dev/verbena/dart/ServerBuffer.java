package dev.verbena.dart;

import org.agrona.concurrent.UnsafeBuffer;

/**
 * One registered buffer of a server and what it carries. Handed from agent to agent through the
 * queues; only the holder touches it.
 */
final class ServerBuffer {
    static final int OK = 0;

    /** The pull of this part failed: the message is given up. */
    static final int FAILED = 1;

    final int index;
    final long regionOffset;
    final UnsafeBuffer window;

    // Set by t1 before the buffer enters pbq.
    PullMessage message;
    int slot;
    int generation;
    int clientId;
    int tag;
    long sequence;

    /** Position among all parts of this client, from 0: the order in which they are streamed. */
    long ordinal;

    long position;
    int length;
    int payloadLength;
    int flags;
    int status;

    /** When its pull was started and when it ended; set by t1. */
    long pullBeganNs;

    long pulledNs;

    // Set by t3.
    long firstFrame;
    int frameCount;
    boolean isDropped;

    /** When its first byte was written to the receiver. */
    long streamBeganNs;

    ServerBuffer(int index, long regionOffset, UnsafeBuffer window) {
        this.index = index;
        this.regionOffset = regionOffset;
        this.window = window;
    }

    long lastFrame() {
        return firstFrame + frameCount - 1;
    }

    boolean isFirst() {
        return (flags & FrameFlyweight.FIRST) != 0;
    }

    boolean isLast() {
        return (flags & FrameFlyweight.LAST) != 0;
    }
}
