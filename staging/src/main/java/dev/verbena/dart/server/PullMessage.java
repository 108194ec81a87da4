package dev.verbena.dart.server;

import dev.verbena.dart.DartMetadata;
import dev.verbena.dart.wire.ClientNotice;
import dev.verbena.dart.wire.ControlFlyweight;
import dev.verbena.dart.wire.FrameFlyweight;
import dev.verbena.dart.wire.MetadataFlyweight;
import dev.verbena.memory.RemoteDescriptor;
import java.util.Queue;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

/** A message whose header has come and whose data have not all been pulled. Pooled; owned by t1. */
public final class PullMessage {
    final RemoteDescriptor descriptor = new RemoteDescriptor();
    final UnsafeBuffer metadata = new UnsafeBuffer(new byte[DartMetadata.LENGTH_MAX]);
    ServedClient client;
    long sequence;
    int tag;
    int fileFlags;

    /** Not a message of the client but a frame about it, of this kind; 0: a message. */
    int notice;

    int metadataLength;
    long payloadLength;
    long posted;
    int postedParts;
    int outstandingParts;
    boolean isAllPosted;
    boolean isFailed;
    boolean isAbortOnItsWay;

    /** t3 knows that it is given up, although the part that says so in the stream has no buffer. */
    private boolean isGivenUpEarly;

    /** What the process is told if it failed. */
    int failureResult;

    /** Why a part could not be pulled; empty if none failed. */
    String failure = "";

    void begin(ServedClient owner, ControlFlyweight header, DirectBuffer from, int offset) {
        client = owner;
        notice = 0;
        sequence = header.sequence();
        tag = header.tag();
        int flags = header.flags();
        fileFlags =
                ((flags & ControlFlyweight.FLAG_FILE_BEGIN) != 0 ? FrameFlyweight.FILE_BEGIN : 0)
                        | ((flags & ControlFlyweight.FLAG_FILE_END) != 0
                                ? FrameFlyweight.FILE_END
                                : 0);
        metadataLength = header.metadataLength();
        metadata.putBytes(0, from, offset, metadataLength);
        payloadLength = header.length();
        if (payloadLength > 0) {
            header.descriptorInto(descriptor);
        }
        reset();
    }

    /** What the receiver is to know of a client, see {@link ClientNotice}. */
    void beginNotice(ServedClient owner, int kind) {
        client = owner;
        notice = kind;
        sequence = owner.lastSequence + 1;
        tag = 0;
        fileFlags = 0;
        metadataLength =
                ClientNotice.encode(owner.applicationId, owner.rank, owner.registration, metadata);
        payloadLength = 0;
        reset();
    }

    private void reset() {
        posted = 0;
        postedParts = 0;
        outstandingParts = 0;
        isAllPosted = false;
        isFailed = false;
        isAbortOnItsWay = false;
        isGivenUpEarly = false;
        failureResult = ControlFlyweight.RESULT_TRANSFER_FAILED;
        failure = "";
    }

    /**
     * A part of this length is asked for, the last one if it ends the message or that has failed.
     */
    void posted(int length) {
        posted += length;
        postedParts++;
        outstandingParts++;
        isAllPosted = posted == payloadLength || isFailed;
    }

    /** Nothing more of it is asked for. */
    void endPosting() {
        isAllPosted = true;
    }

    /** A part that was asked for has come, or will not. */
    void partEnded() {
        outstandingParts--;
    }

    /** This part ends it in the stream. */
    void partFailed(String why) {
        isFailed = true;
        isAbortOnItsWay = true;
        blame(why);
    }

    /** The transport takes no pull of it. */
    void refused(String why) {
        isFailed = true;
        failure = why;
    }

    /** Its process is gone. */
    void abandoned() {
        isFailed = true;
    }

    /** Parts that had come are lost; its process is told this result. */
    void lost(int result, String why) {
        isFailed = true;
        failureResult = result;
        blame(why);
    }

    /** Nobody needs it any more. */
    void forget() {
        client = null;
    }

    /** Whether it is this message of this client. */
    boolean isOf(ServedClient of, long number) {
        return client == of && notice == 0 && sequence == number;
    }

    /** t3 is to leave out what it holds of this message; whether there was room to say so. */
    boolean giveUpEarly(Queue<GivenUp> givenUp) {
        GivenUp said = new GivenUp(client.slot, client.generation, sequence, client.nextOrdinal);
        isGivenUpEarly = givenUp.offer(said);
        return isGivenUpEarly;
    }

    /** Whether t3 has yet to hear that it failed, for want of a buffer. */
    boolean isToGiveUpEarly() {
        return isFailed && !isGivenUpEarly;
    }

    /** The first reason is the one that is told. */
    void blame(String why) {
        if (failure.isEmpty()) {
            failure = why;
        }
    }

    /** It is lost when its server ends now. */
    void reportLost(ServerShared shared) {
        if (notice == 0) {
            shared.lost.add(client.id, sequence, MetadataFlyweight.name(metadata), "it had pulled");
        }
    }
}
