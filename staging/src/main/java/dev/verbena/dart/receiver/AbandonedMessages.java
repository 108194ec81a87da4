package dev.verbena.dart.receiver;

import dev.verbena.dart.store.InboundMessage;
import dev.verbena.dart.store.InboundStream;
import java.util.ArrayList;

/** Messages of which nothing more will come, or whose beginning is gone. */
final class AbandonedMessages {
    private final ReceiverShared shared;

    AbandonedMessages(ReceiverShared shared) {
        this.shared = shared;
    }

    /** Its server will not send the rest. */
    void giveUp(InboundStream stream, InboundMessage message) {
        forget(stream, message);
        shared.abandon(
                message,
                "%s was given up by its server after %s of %s bytes",
                message,
                message.received(),
                message.metadata().payloadLength());
    }

    /** The acknowledged beginning of a message is gone: it cannot be delivered any more. */
    void loseHalf(InboundStream stream, InboundMessage message, String why) {
        forget(stream, message);
        stream.loseHalf();
        shared.abandon(
                message,
                "%s, of which %s of %s bytes had come, is lost: %s",
                message,
                message.received(),
                message.metadata().payloadLength(),
                why);
    }

    /** Nothing more will come of what is half received from this server. */
    void abandonOpen(InboundStream stream) {
        for (InboundMessage message : new ArrayList<>(stream.open().values())) {
            giveUp(stream, message);
        }
    }

    /** Its server begins anew: what is whole and not stored was confirmed to nobody. */
    void abandonStoring(InboundStream stream) {
        if (stream.storing().isEmpty()) {
            return;
        }
        for (InboundMessage message : new ArrayList<>(stream.storing())) {
            stream.stored(message);
            forget(stream, message);
            shared.abandon(
                    message, "%s is lost: its server began anew before it was stored", message);
        }
        if (shared.journal != null) {
            // It may promise some of them.
            shared.journal.rewriteSoon(shared.clock.nanoTime());
        }
    }

    /** Nothing more will come of this message here. */
    void forget(InboundStream stream, InboundMessage message) {
        stream.open().remove(message.clientId());
        stream.frames().forget(message);
        if (shared.journal != null) {
            shared.journal.forget(stream, message);
        }
        if (message.file() != null) {
            shared.files.discard(message);
        }
        shared.toPool(message);
    }
}
