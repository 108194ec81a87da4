package dev.verbena.dart.stream;

import dev.verbena.agent.ByteStreams.ByteStream;
import dev.verbena.dart.DartException;
import dev.verbena.dart.DartException.Code;
import dev.verbena.dart.wire.FrameFlyweight;
import dev.verbena.dart.wire.PieceFlyweight;
import org.agrona.concurrent.UnsafeBuffer;

/** Puts together the frames that a receiver sends. Trusts nothing that it reads. Owned by t3. */
final class LinkInlet {
    /** The stream has ended. */
    static final int ENDED = -1;

    /** Nothing more can be read now. */
    static final int NOTHING = 0;

    /** Some bytes of a frame came. */
    static final int PART = 1;

    /** A frame is whole and checked. */
    static final int FRAME = 2;

    final FrameFlyweight frame = new FrameFlyweight();

    /** Header and payload of the present frame. */
    final UnsafeBuffer in =
            new UnsafeBuffer(new byte[FrameFlyweight.LENGTH + PieceFlyweight.LENGTH_MAX]);

    private int length;

    /** A connection is new. */
    void reset() {
        length = 0;
    }

    /**
     * Goes on reading; a frame is there until the next call.
     *
     * @throws DartException MALFORMED for what a receiver does not send, or a wrong checksum
     */
    int read(ByteStream stream) {
        int wanted = FrameFlyweight.LENGTH;
        if (length >= wanted) {
            frame.wrap(in, 0);
            if (frame.type() == FrameFlyweight.DATA) {
                throw Code.MALFORMED.because("frame: DATA from the receiver");
            }
            wanted += frame.payloadLength();
        }
        if (length < wanted) {
            int n = stream.read(in, length, wanted - length);
            length += Math.max(n, 0);
            return n > 0 ? PART : n < 0 ? ENDED : NOTHING;
        }
        if (!frame.isIntact(in, FrameFlyweight.LENGTH)) {
            throw Code.MALFORMED.because("frame: wrong checksum from the receiver");
        }
        frame.check();
        length = 0;
        return FRAME;
    }
}
