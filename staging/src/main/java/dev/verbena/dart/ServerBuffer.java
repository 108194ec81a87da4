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

    /** What its message is about; only of a part that is not the first, which has it itself. */
    final UnsafeBuffer metadata;

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

    /** Where what is asked for next begins in the memory that it is pulled from. */
    long remoteOffset;

    /** How much of {@link #length} has been asked for: of a long part piece after piece. */
    int asked;

    /** It is being pulled in pieces; t1's. */
    boolean isInPieces;

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

    /** It was read out of its process, and cannot be streamed: see {@link #lostResult}. */
    boolean isLost;

    /** Why, as the process is told. */
    int lostResult;

    /** It is the last part of a message that is counted among those in files. */
    boolean isCounted;

    /** When its first byte was written to the receiver. */
    long streamBeganNs;

    /** File that has a copy of it, or is getting one; null: none. */
    SpillFile spillFile;

    /** What a stand-in says of its client; it is so short that no file is asked. Null: none. */
    UnsafeBuffer notice;

    /** Where its first frame begins in that file. */
    long spillOffset;

    /** It was acknowledged while it was being copied, and is given back after. */
    boolean isReleasedLate;

    /** Given back because the file has it, not because the receiver does. */
    boolean isSpilled;

    /** Checksums of its frames, while they were summed up as they came. */
    final FrameSums sums;

    ServerBuffer(int index, long regionOffset, UnsafeBuffer window) {
        this(index, regionOffset, window, null);
    }

    ServerBuffer(int index, long regionOffset, UnsafeBuffer window, FrameSums sums) {
        this.index = index;
        this.regionOffset = regionOffset;
        this.window = window;
        this.metadata = window == null ? null : new UnsafeBuffer(new byte[DartMetadata.LENGTH_MAX]);
        this.sums = sums;
    }

    /** Stands in for this part once only a file holds it. */
    ServerBuffer standIn() {
        ServerBuffer other = new ServerBuffer(-1, 0, null);
        other.slot = slot;
        other.generation = generation;
        other.clientId = clientId;
        other.tag = tag;
        other.sequence = sequence;
        other.position = position;
        other.length = length;
        other.flags = flags;
        other.isDropped = isDropped;
        other.isLost = isLost;
        other.lostResult = lostResult;
        other.firstFrame = firstFrame;
        other.frameCount = frameCount;
        other.spillFile = spillFile;
        other.spillOffset = spillOffset;
        if (isNotice()) {
            other.notice = new UnsafeBuffer(new byte[length]);
            other.notice.putBytes(0, window, 0, length);
        }
        other.isCounted = isLast() && !isDropped && !isNotice();
        return other;
    }

    /** Only a file holds it. */
    boolean isStandIn() {
        return window == null;
    }

    /** Name of its message as its sender gave it; empty if it gave none. Allocates. */
    String name() {
        UnsafeBuffer about = isFirst() ? window : metadata;
        return about == null ? "" : MetadataCodec.name(about);
    }

    long lastFrame() {
        return firstFrame + frameCount - 1;
    }

    /** Says something about its client, and holds nothing of a message. */
    boolean isNotice() {
        return (flags & FrameFlyweight.NOTICES) != 0;
    }

    boolean isFirst() {
        return (flags & FrameFlyweight.FIRST) != 0;
    }

    boolean isLast() {
        return (flags & FrameFlyweight.LAST) != 0;
    }
}
