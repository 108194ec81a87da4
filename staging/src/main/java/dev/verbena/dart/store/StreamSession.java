package dev.verbena.dart.store;

import dev.verbena.dart.wire.FrameFlyweight;

/** The connection over which a stream comes now, as far as those who store need it. */
public interface StreamSession {
    /** The rest of this message is of no use: its server is to give it up; whether it was told. */
    boolean refuse(FrameFlyweight frame);

    /** Ends it, and says why. */
    void fail(int code, String text);

    /** Ends it. */
    void end();

    /** Whether bytes of the socket go into the memory of this message. */
    boolean isReadingInto(InboundMessage message);
}
