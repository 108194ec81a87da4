package dev.verbena.dart;

import dev.verbena.transport.RemoteDescriptor;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

/** A message whose header has come and whose data have not all been pulled. Pooled; owned by t1. */
final class PullMessage {
    final RemoteDescriptor descriptor = new RemoteDescriptor();
    final UnsafeBuffer metadata = new UnsafeBuffer(new byte[DartMetadata.LENGTH_MAX]);
    ServedClient client;
    long sequence;
    int tag;
    int fileFlags;
    int metadataLength;
    long payloadLength;
    long posted;
    int postedParts;
    int outstandingParts;
    boolean isAllPosted;
    boolean isFailed;
    boolean isAbortOnItsWay;

    /** Why a part could not be pulled; empty if none failed. */
    String failure = "";

    void begin(ServedClient owner, ControlFlyweight header, DirectBuffer from, int offset) {
        client = owner;
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
        posted = 0;
        postedParts = 0;
        outstandingParts = 0;
        isAllPosted = false;
        isFailed = false;
        isAbortOnItsWay = false;
        failure = "";
    }
}
