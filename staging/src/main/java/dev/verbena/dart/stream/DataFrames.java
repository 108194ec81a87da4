package dev.verbena.dart.stream;

import dev.verbena.dart.wire.FrameFlyweight;

/** Headers of DATA frames. */
final class DataFrames {
    private DataFrames() {}

    /**
     * Encodes the header of a frame of this part.
     *
     * @param frame number of the frame within the part, from 0
     */
    static void encode(
            FrameFlyweight header,
            org.agrona.MutableDirectBuffer out,
            ServerBuffer part,
            int frame,
            int payloadOffset,
            int payloadLength) {
        int flags = 0;
        if (part.isDropped) {
            flags = FrameFlyweight.GIVEN_UP;
        } else {
            flags = part.flags & FrameFlyweight.NOTICES;
            if (frame == 0) {
                flags |= part.flags & (FrameFlyweight.FIRST | FrameFlyweight.FILE_BEGIN);
            }
            if (frame == part.frameCount - 1) {
                flags |= part.flags & (FrameFlyweight.LAST | FrameFlyweight.FILE_END);
            }
        }
        header.begin(out, 0, FrameFlyweight.DATA)
                .flags(flags)
                .sequence(part.firstFrame + frame)
                .message(part.clientId, part.sequence, part.tag, part.position + payloadOffset);
        if (part.sums != null && part.sums.isWhole() && !part.isDropped) {
            header.end(part.sums.of(frame), payloadLength);
        } else {
            header.end(
                    part.notice == null ? part.window : part.notice, payloadOffset, payloadLength);
        }
    }

    /** The header of a frame without payload that ends the message of a frame nobody can read. */
    static void encodeGivenUp(
            FrameFlyweight header,
            org.agrona.MutableDirectBuffer out,
            ServerBuffer part,
            int frame) {
        header.begin(out, 0, FrameFlyweight.DATA)
                .flags(FrameFlyweight.GIVEN_UP)
                .sequence(part.firstFrame + frame)
                .message(part.clientId, part.sequence, part.tag, part.position)
                .end(out, 0, 0);
    }
}
