package dev.verbena.dart.server;

import dev.verbena.dart.DartClient;
import dev.verbena.dart.DartCommand;
import dev.verbena.dart.DartCommandHandler;
import dev.verbena.dart.DartException;
import dev.verbena.dart.DartException.Code;
import dev.verbena.dart.DartTimings;
import dev.verbena.dart.wire.ControlFlyweight;
import dev.verbena.memory.RegisteredRegion;
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
final class ServerCommands implements AutoCloseable {
    /** Contexts of replies: above those of buffers and control records. */
    static final long CONTEXT_BASE = 1L << 24;

    private static final int SLOTS = 32;
    private static final int WAITING_MAX = 4;
    private static final int SLOT_LENGTH = ControlFlyweight.MESSAGE_LENGTH_MAX;

    /** A command that waits for its turn. */
    private static final class Waiting implements DartCommand {
        ServedClient client;
        long number;
        int type;
        byte[] payload;
        UnsafeBuffer buffer;

        @Override
        public int type() {
            return type;
        }

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
        public DirectBuffer buffer() {
            return buffer;
        }

        @Override
        public int offset() {
            return 0;
        }

        @Override
        public int length() {
            return payload.length;
        }
    }

    private final ServerShared shared;
    private final Transport transport;
    private final RegisteredRegion region;
    private final UnsafeBuffer memory;
    private final UnsafeBuffer reply = new UnsafeBuffer(new byte[0]);
    private final ControlFlyweight record = new ControlFlyweight();
    private final ArrayDeque<Waiting> waiting = new ArrayDeque<>();
    private final BiConsumer<ServedClient, Boolean> stopServers;
    private final int[] free = new int[SLOTS];
    private int freeCount;

    // The reply that is ready and could not be sent yet.
    private int readySlot = -1;
    private int readyLength;

    ServerCommands(
            ServerShared shared,
            Transport transport,
            BiConsumer<ServedClient, Boolean> stopServers) {
        this.shared = shared;
        this.transport = transport;
        this.stopServers = stopServers;
        this.region = transport.allocate((long) SLOTS * SLOT_LENGTH, 0);
        this.memory = region.buffer(0, SLOTS * SLOT_LENGTH);
        for (int i = 0; i < SLOTS; i++) {
            free[freeCount++] = i;
        }
    }

    void onCommand(
            ServedClient client, ControlFlyweight command, DirectBuffer payload, int offset) {
        if (client.waitingCommands >= WAITING_MAX) {
            throw Code.MALFORMED.because(client + " does not wait for its replies");
        }
        Waiting one = new Waiting();
        one.client = client;
        one.number = command.sequence();
        one.type = command.tag();
        one.payload = new byte[command.metadataLength()];
        payload.getBytes(offset, one.payload);
        one.buffer = new UnsafeBuffer(one.payload);
        client.commandCame();
        waiting.add(one);
    }

    int doWork() {
        int work = 0;
        while (!waiting.isEmpty() && work < SLOTS) {
            Waiting one = waiting.peek();
            boolean isGone =
                    one.client.state == ServedClient.GONE
                            || one.client.peer == null
                            || !one.client.peer.isConnected;
            if (readySlot < 0) {
                if (isGone) {
                    done(one);
                    continue;
                }
                if (freeCount == 0) {
                    break;
                }
                readySlot = free[--freeCount];
                run(one);
                work++;
            }
            int answer =
                    isGone
                            ? Transport.NOT_CONNECTED
                            : transport.send(
                                    one.client.peer.connection,
                                    region,
                                    (long) readySlot * SLOT_LENGTH,
                                    readyLength,
                                    CONTEXT_BASE + readySlot,
                                    0);
            if (answer == Transport.BACK_PRESSURED) {
                break;
            }
            if (answer != Transport.ACCEPTED) {
                free[freeCount++] = readySlot;
            }
            readySlot = -1;
            done(one);
        }
        return work;
    }

    private void done(Waiting one) {
        waiting.poll();
        one.client.commandDone();
    }

    private void run(Waiting one) {
        int base = readySlot * SLOT_LENGTH;
        reply.wrap(memory, base + ControlFlyweight.LENGTH, DartClient.COMMAND_LENGTH_MAX);
        int result = ControlFlyweight.RESULT_OK;
        int length;
        try {
            length = answer(one);
        } catch (Throwable e) {
            HandlerFailure.check(e);
            shared.settings().environment().errorHandler().onError(e);
            result = ControlFlyweight.RESULT_COMMAND_FAILED;
            byte[] text = HandlerFailure.text(e).getBytes(StandardCharsets.UTF_8);
            length = Math.min(text.length, DartClient.COMMAND_LENGTH_MAX);
            reply.putBytes(0, text, 0, length);
        }
        record.begin(memory, base, ControlFlyweight.REPLY, shared.job)
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
        DartCommandHandler handler = shared.settings().commandHandlers().get(one.type);
        if (handler == null) {
            throw refused("server " + shared.serverId + " has no handler for command " + one.type);
        }
        int length = handler.onCommand(one, reply);
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
        if (!shared.settings().isStoppableByClients()) {
            throw refused("server " + shared.serverId + " does not let processes stop it");
        }
        // One byte: at once.
        stopServers.accept(one.client, one.payload.length > 0);
        return 0;
    }

    private int addTimings(Waiting one) {
        int count = one.payload.length / Double.BYTES;
        if (count > DartTimings.LENGTH || one.payload.length % Double.BYTES != 0) {
            throw refused(one.payload.length + " bytes of timings");
        }
        double[] values = new double[count];
        for (int i = 0; i < count; i++) {
            values[i] = one.buffer.getDouble(i * Double.BYTES, ByteOrder.LITTLE_ENDIAN);
        }
        shared.addTimings(values);
        return 0;
    }

    /** Whether this completion is one of a reply; if so it is dealt with. */
    boolean onCompletion(long context) {
        if (context < CONTEXT_BASE || context >= CONTEXT_BASE + SLOTS) {
            return false;
        }
        free[freeCount++] = (int) (context - CONTEXT_BASE);
        return true;
    }

    boolean isIdle() {
        return waiting.isEmpty() && readySlot < 0 && freeCount == SLOTS;
    }

    /** No reply is being sent. */
    boolean isQuiet() {
        return freeCount == SLOTS || readySlot >= 0 && freeCount == SLOTS - 1;
    }

    @Override
    public void close() {
        region.close();
    }
}
