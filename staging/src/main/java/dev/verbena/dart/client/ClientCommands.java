package dev.verbena.dart.client;

import dev.verbena.dart.DartClient;
import dev.verbena.dart.DartException;
import dev.verbena.dart.wire.ControlFlyweight;
import dev.verbena.dart.wire.ControlResult;
import dev.verbena.memory.RegisteredRegion;
import dev.verbena.transport.Transport;
import java.nio.charset.StandardCharsets;
import java.util.UUID;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

/** The one command that a client has under way, and its reply. Owned by the client's thread. */
final class ClientCommands {
    /** Context of the sends: above those of headers and control records. */
    static final long CONTEXT = 1L << 21;

    private static final int LENGTH = ControlFlyweight.LENGTH + DartClient.COMMAND_LENGTH_MAX;

    private final Transport transport;
    private final RegisteredRegion region;
    private final UnsafeBuffer memory;
    private final ControlFlyweight record = new ControlFlyweight();
    private int length;
    private boolean isSending;
    private boolean isToSend;
    private long number;
    private byte[] reply;
    private int result;

    ClientCommands(Transport transport) {
        this.transport = transport;
        this.region = transport.allocate(LENGTH, 0);
        this.memory = region.buffer(0, LENGTH);
    }

    /** The memory of the command before is still being read. */
    boolean isBusy() {
        return isSending;
    }

    void begin(
            UUID job, int clientId, int type, DirectBuffer payload, int offset, int payloadLength) {
        record.begin(memory, 0, ControlFlyweight.COMMAND, job)
                .command(clientId, ++number, type, payloadLength)
                .end();
        memory.putBytes(ControlFlyweight.LENGTH, payload, offset, payloadLength);
        length = ControlFlyweight.LENGTH + payloadLength;
        reply = null;
        isToSend = true;
    }

    int doWork(long connection) {
        if (!isToSend
                || transport.send(connection, region, 0, length, CONTEXT, 0)
                        != Transport.ACCEPTED) {
            return 0;
        }
        isToSend = false;
        isSending = true;
        return 1;
    }

    void onSent() {
        isSending = false;
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

    void close() {
        region.close();
    }
}
