package dev.verbena.dart.stream;

import dev.verbena.dart.DartMetadata;
import dev.verbena.dart.wire.FrameFlyweight;
import dev.verbena.dart.wire.FrameSums;
import dev.verbena.dart.wire.MetadataFlyweight;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * One registered buffer of a server and what it carries. Handed from agent to agent through the
 * queues; only the holder touches it.
 */
public final class ServerBuffer {
    public static final int OK = 0;

    /** The pull of this part failed: the message is given up. */
    public static final int FAILED = 1;

    final int index;
    final long regionOffset;
    final UnsafeBuffer window;

    /** What its message is about; only of a part that is not the first, which has it itself. */
    final UnsafeBuffer metadata;

    // Set by t1 before the buffer enters pbq.
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

    public ServerBuffer(int index, long regionOffset, UnsafeBuffer window) {
        this(index, regionOffset, window, null);
    }

    public ServerBuffer(int index, long regionOffset, UnsafeBuffer window, FrameSums sums) {
        this.index = index;
        this.regionOffset = regionOffset;
        this.window = window;
        this.metadata = window == null ? null : new UnsafeBuffer(new byte[DartMetadata.LENGTH_MAX]);
        this.sums = sums;
    }

    /** A frame of an earlier server, at this place of a file. */
    static ServerBuffer found(FrameFlyweight frame, SpillFile file, long position) {
        ServerBuffer part = new ServerBuffer(-1, 0, null);
        part.slot = -1;
        part.clientId = frame.clientId();
        part.tag = frame.tag();
        part.sequence = frame.messageSequence();
        part.position = frame.position();
        part.length = frame.payloadLength();
        part.flags = frame.flags();
        part.isDropped = (frame.flags() & FrameFlyweight.GIVEN_UP) != 0;
        part.numbered(frame.sequence(), 1);
        part.copiedTo(file, position);
        part.isCounted = part.isLast() && !part.isDropped;
        return part;
    }

    // ---- by t1

    /** Is to be filled with metadata that are here, and the next part of the payload. */
    public void beginPull(long remote, int metadataLength, int partLength, long nowNs) {
        pullBeganNs = nowNs;
        remoteOffset = remote;
        asked = metadataLength;
        length = metadataLength + partLength;
    }

    /** Whose it is: a registration of a process, and the place among all parts of that. */
    public void owned(int itsSlot, int itsGeneration, int itsClientId, long itsOrdinal) {
        slot = itsSlot;
        generation = itsGeneration;
        clientId = itsClientId;
        ordinal = itsOrdinal;
    }

    /** Says what it carries, once its pull has begun. */
    public void describe(int itsTag, long itsSequence, long itsPosition, int partLength) {
        tag = itsTag;
        sequence = itsSequence;
        position = itsPosition;
        payloadLength = partLength;
        isDropped = false;
        isLost = false;
        isSpilled = false;
        isInPieces = asked < length;
    }

    public void flagged(int its) {
        flags = its;
    }

    /** So much more of it was asked for. */
    public void askedFor(int bytes) {
        asked += bytes;
        remoteOffset += bytes;
    }

    public void pullEnded(int result, long nowNs) {
        isInPieces = false;
        status = result;
        pulledNs = nowNs;
    }

    // ---- by t3

    void numbered(long first, int count) {
        firstFrame = first;
        frameCount = count;
    }

    public void streamBegan(long nowNs) {
        streamBeganNs = nowNs;
    }

    /** Its pull failed: it carries nothing. */
    public void giveUp() {
        isDropped = true;
        length = 0;
    }

    /** The rest of its message is not streamed, or is. */
    public void dropped(boolean isLeftOut) {
        isDropped = isLeftOut;
    }

    /** It cannot be streamed, for this reason. */
    void lost(int result) {
        isLost = true;
        lostResult = result;
    }

    /** It is copied to this place of a file. */
    void copiedTo(SpillFile file, long offset) {
        spillFile = file;
        spillOffset = offset;
    }

    /** The file that had a copy of it; that is needed no more. */
    SpillFile leaveFile() {
        SpillFile left = spillFile;
        spillFile = null;
        return left;
    }

    void releasedLate(boolean isLate) {
        isReleasedLate = isLate;
    }

    public void spilled() {
        isSpilled = true;
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

    /** Is left out of the stream if it is of this message of this registration. */
    void dropIfOf(int ofSlot, int ofGeneration, long ofSequence) {
        isDropped |=
                slot == ofSlot
                        && generation == ofGeneration
                        && sequence == ofSequence
                        && !isNotice();
    }

    /** Only a file holds it. */
    public boolean isStandIn() {
        return window == null;
    }

    /** Name of its message as its sender gave it; empty if it gave none. Allocates. */
    public String name() {
        UnsafeBuffer about = isFirst() ? window : metadata;
        return about == null ? "" : MetadataFlyweight.name(about);
    }

    long lastFrame() {
        return firstFrame + frameCount - 1;
    }

    /** Says something about its client, and holds nothing of a message. */
    public boolean isNotice() {
        return (flags & FrameFlyweight.NOTICES) != 0;
    }

    boolean isFirst() {
        return (flags & FrameFlyweight.FIRST) != 0;
    }

    public boolean isLast() {
        return (flags & FrameFlyweight.LAST) != 0;
    }

    public int asked() {
        return asked;
    }

    public int clientId() {
        return clientId;
    }

    public int generation() {
        return generation;
    }

    public int index() {
        return index;
    }

    public boolean isDropped() {
        return isDropped;
    }

    public boolean isInPieces() {
        return isInPieces;
    }

    public boolean isSpilled() {
        return isSpilled;
    }

    public int length() {
        return length;
    }

    public int lostResult() {
        return lostResult;
    }

    public UnsafeBuffer metadata() {
        return metadata;
    }

    public long ordinal() {
        return ordinal;
    }

    public int payloadLength() {
        return payloadLength;
    }

    public long pullBeganNs() {
        return pullBeganNs;
    }

    public long pulledNs() {
        return pulledNs;
    }

    public long regionOffset() {
        return regionOffset;
    }

    public long remoteOffset() {
        return remoteOffset;
    }

    public long sequence() {
        return sequence;
    }

    public int slot() {
        return slot;
    }

    public int status() {
        return status;
    }

    public long streamBeganNs() {
        return streamBeganNs;
    }

    public FrameSums sums() {
        return sums;
    }

    public UnsafeBuffer window() {
        return window;
    }

    public int tag() {
        return tag;
    }

    @Override
    public String toString() {
        return "message " + sequence + " of client " + clientId;
    }
}
