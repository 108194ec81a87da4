package dev.verbena.dart.client;

import dev.verbena.dart.DartException;
import dev.verbena.dart.wire.ControlFlyweight;
import dev.verbena.dart.wire.ControlOutbox;
import dev.verbena.dart.wire.ControlResult;
import dev.verbena.transport.Transport;
import java.nio.charset.StandardCharsets;
import java.util.UUID;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

/** The one command that a client has under way, and its reply. Owned by the client's thread. */
final class ClientCommands {
    private final ControlOutbox outbox;
    private final UnsafeBuffer memory =
            new UnsafeBuffer(new byte[ControlFlyweight.MESSAGE_LENGTH_MAX]);
    private final ControlFlyweight record = new ControlFlyweight();
    private int length;
    private boolean isToSend;

    /** Over which it went; 0: it did not. */
    long connection;

    private long number;
    private byte[] reply;
    private int result;

    ClientCommands(ControlOutbox outbox) {
        this.outbox = outbox;
    }

    void begin(
            UUID job, int clientId, int type, DirectBuffer payload, int offset, int payloadLength) {
        record.begin(memory, 0, ControlFlyweight.COMMAND, job)
                .command(clientId, ++number, type, payloadLength)
                .end();
        memory.putBytes(ControlFlyweight.LENGTH, payload, offset, payloadLength);
        length = ControlFlyweight.LENGTH + payloadLength;
        reply = null;
        connection = 0;
        isToSend = true;
    }

    int doWork(long server) {
        if (!isToSend || outbox.sendMade(memory, length, server) != Transport.ACCEPTED) {
            return 0;
        }
        isToSend = false;
        connection = server;
        return 1;
    }

    void onReply(ControlFlyweight answer, DirectBuffer buffer, int offset) {
        if (answer.sequence() == number && reply == null) {
            result = answer.result();
            reply = new byte[answer.metadataLength()];
            buffer.getBytes(offset, reply);
        }
    }

    boolean isAnswered() {
        return reply != null;
    }

    /** Gives the command up: a reply that still comes is ignored. */
    void giveUp() {
        number++;
        isToSend = false;
    }

    byte[] reply() {
        if (result != ControlFlyweight.RESULT_OK) {
            String text = new String(reply, StandardCharsets.UTF_8);
            throw new DartException(ControlResult.code(result), text.replaceAll("\\p{Cntrl}", "?"));
        }
        return reply;
    }
}
