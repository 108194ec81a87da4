package dev.verbena.dart.server;

import dev.verbena.dart.DartClient;
import dev.verbena.dart.DartCommand;
import dev.verbena.dart.DartCommandHandler;
import dev.verbena.dart.DartException;
import dev.verbena.dart.DartException.Code;
import dev.verbena.dart.DartTimings;
import dev.verbena.dart.wire.ControlFlyweight;
import dev.verbena.dart.wire.ControlOutbox;
import dev.verbena.staging.HandlerFailure;
import dev.verbena.transport.Transport;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.function.BiConsumer;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * Commands of clients to a server: the user's handlers, and those of the library itself. A command
 * that cannot be answered now waits, a few for each client. Owned by t1.
 */
final class ServerCommands {
    private static final int RUNS_MAX = 32;
    private static final int WAITING_MAX = 4;

    /** A command that waits for its turn. */
    private record Waiting(ServedClient client, long number, int type, UnsafeBuffer buffer)
            implements DartCommand {
        @Override
        public int clientId() {
            return client.id;
        }

        @Override
        public int applicationId() {
            return client.applicationId;
        }

        @Override
        public int rank() {
            return client.rank;
        }

        @Override
        public int offset() {
            return 0;
        }

        @Override
        public int length() {
            return buffer.capacity();
        }
    }

    private final ServerShared shared;
    private final ControlOutbox outbox;
    private final ControlFlyweight record = new ControlFlyweight();
    private final ArrayDeque<Waiting> waiting = new ArrayDeque<>();
    private final BiConsumer<ServedClient, Boolean> stopServers;

    /** The reply to the first that waits, and the part of it that a handler fills. */
    private final UnsafeBuffer ready =
            new UnsafeBuffer(new byte[ControlFlyweight.MESSAGE_LENGTH_MAX]);

    private final UnsafeBuffer reply = new UnsafeBuffer(0, 0);

    /** 0: there is none yet. */
    private int readyLength;

    ServerCommands(
            ServerShared shared,
            ControlOutbox outbox,
            BiConsumer<ServedClient, Boolean> stopServers) {
        this.shared = shared;
        this.outbox = outbox;
        this.stopServers = stopServers;
    }

    void onCommand(
            ServedClient client, ControlFlyweight command, DirectBuffer payload, int offset) {
        if (client.waitingCommands >= WAITING_MAX) {
            throw Code.MALFORMED.because(client + " does not wait for its replies");
        }
        UnsafeBuffer copy = new UnsafeBuffer(new byte[command.metadataLength()]);
        copy.putBytes(0, payload, offset, copy.capacity());
        client.commandCame();
        waiting.add(new Waiting(client, command.sequence(), command.tag(), copy));
    }

    int doWork() {
        int work = 0;
        while (!waiting.isEmpty() && work < RUNS_MAX) {
            Waiting one = waiting.peek();
            boolean isGone =
                    one.client.state == ServedClient.GONE
                            || one.client.peer == null
                            || !one.client.peer.isConnected;
            if (!isGone && readyLength == 0) {
                run(one);
                work++;
            }
            if (!isGone
                    && outbox.sendMade(ready, readyLength, one.client.peer.connection)
                            == Transport.BACK_PRESSURED) {
                break;
            }
            readyLength = 0;
            waiting.poll();
            one.client.commandDone();
        }
        return work;
    }

    private void run(Waiting one) {
        // A handler may have let it show other memory, and nobody gets the reply of another.
        reply.wrap(ready, ControlFlyweight.LENGTH, DartClient.COMMAND_LENGTH_MAX);
        reply.setMemory(0, DartClient.COMMAND_LENGTH_MAX, (byte) 0);
        int result = ControlFlyweight.RESULT_OK;
        int length;
        try {
            length = answer(one);
        } catch (Throwable e) {
            HandlerFailure.check(e);
            shared.report(e);
            result = ControlFlyweight.RESULT_COMMAND_FAILED;
            byte[] text = HandlerFailure.text(e).getBytes(StandardCharsets.UTF_8);
            length = Math.min(text.length, DartClient.COMMAND_LENGTH_MAX);
            ready.putBytes(ControlFlyweight.LENGTH, text, 0, length);
        }
        record.begin(ready, 0, ControlFlyweight.REPLY, shared.job)
                .reply(one.client.id, one.number, result, length)
                .end();
        readyLength = ControlFlyweight.LENGTH + length;
    }

    private int answer(Waiting one) {
        if (one.type == ControlFlyweight.COMMAND_STOP_SERVERS) {
            return stop(one);
        }
        if (one.type == ControlFlyweight.COMMAND_TIMINGS) {
            return addTimings(one);
        }
        DartCommandHandler handler = shared.settings.commandHandlers().get(one.type);
        if (handler == null) {
            throw refused("server " + shared.serverId + " has no handler for command " + one.type);
        }
        int length = handler.onCommand(one, reply);
        if (reply.byteArray() != ready.byteArray()
                || reply.wrapAdjustment() != ControlFlyweight.LENGTH) {
            throw new IllegalStateException(
                    "the handler of command "
                            + one.type
                            + " wrapped its reply: it has to write into it");
        }
        if (length < 0 || length > DartClient.COMMAND_LENGTH_MAX) {
            throw new IllegalStateException(
                    "the handler of command %s answered %s bytes, outside 0 to %s"
                            .formatted(one.type, length, DartClient.COMMAND_LENGTH_MAX));
        }
        return length;
    }

    private static DartException refused(String what) {
        return Code.COMMAND_FAILED.because(what);
    }

    private int stop(Waiting one) {
        if (!shared.settings.isStoppableByClients()) {
            throw refused("server " + shared.serverId + " does not let processes stop it");
        }
        // One byte: at once.
        stopServers.accept(one.client, one.length() > 0);
        return 0;
    }

    private int addTimings(Waiting one) {
        int count = one.length() / Double.BYTES;
        if (count > DartTimings.LENGTH || one.length() % Double.BYTES != 0) {
            throw refused(one.length() + " bytes of timings");
        }
        double[] values = new double[count];
        for (int i = 0; i < count; i++) {
            values[i] = one.buffer.getDouble(i * Double.BYTES, ByteOrder.LITTLE_ENDIAN);
        }
        shared.addTimings(values);
        return 0;
    }

    boolean isIdle() {
        return waiting.isEmpty();
    }
}
