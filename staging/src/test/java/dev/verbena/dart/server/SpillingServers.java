package dev.verbena.dart.server;

import static java.nio.ByteOrder.BIG_ENDIAN;
import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.agent.AgentStepper;
import dev.verbena.dart.DartMessage;
import dev.verbena.dart.DartMetadata;
import dev.verbena.dart.DartReceiver;
import dev.verbena.dart.DartServer;
import dev.verbena.dart.DartWorld;
import dev.verbena.dart.Settings;
import dev.verbena.dart.WireEnvironment;
import dev.verbena.dart.stream.ServerBuffer;
import dev.verbena.dart.wire.ClientNotice;
import dev.verbena.dart.wire.FrameFlyweight;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.function.BooleanSupplier;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.AfterEach;

/** Streaming halves of servers that spill, and a receiver that goes and comes, in virtual time. */
abstract class SpillingServers {
    static final int STEPS_MAX = 50_000;
    static final int BUFFERS = 3;
    static final int BUFFER_SIZE = 64 * 1024;
    private static final int FRAME = 8192;
    final WireEnvironment wire = new WireEnvironment();
    final List<Integer> received = new ArrayList<>();
    final List<String> lostRanks = new ArrayList<>();

    final DartReceiver receiver =
            DartReceiver.embed(
                    context(new DartReceiver.Context())
                            .environment(wire)
                            .windowMax(1 << 20)
                            .lostHandler(
                                    (application, rank, client) ->
                                            lostRanks.add(application + "/" + rank + "/" + client))
                            .handler(this::onMessage));

    private final AgentStepper receiving =
            new AgentStepper(List.of(receiver.agent()), wire.clock, wire.errorHandler());

    Server server;
    int sent;

    /** A server's streaming half. */
    final class Server {
        final ServerShared shared;
        final StreamAgent t3;
        final AgentStepper stepper;
        final AgentStepper both;
        final List<ServerBuffer> free = new ArrayList<>();
        final List<Integer> promised = new ArrayList<>();

        /** What t1 would tell the process. */
        final List<Integer> confirmed = new ArrayList<>();

        final List<Integer> lost = new ArrayList<>();

        /** Where messages begin in a file that holds all of them. */
        final List<Integer> offsets = new ArrayList<>();

        int written;
        int ordinal;

        Server(int run, long limit) {
            shared =
                    new ServerShared(
                            Settings.of(
                                    context(new DartServer.Context())
                                            .environment(wire)
                                            .configurationFile("none")
                                            .receiver("wire", 7000)
                                            .bufferCount(BUFFERS)
                                            .bufferSize(BUFFER_SIZE)
                                            .framePayloadMax(FRAME)
                                            .spill("spill", limit)));
            shared.identify(new UUID(1, run), 0, 0);
            t3 = new StreamAgent(shared);
            stepper = new AgentStepper(List.of(t3), wire.clock, wire.errorHandler());
            both = new AgentStepper(List.of(t3, receiver.agent()), wire.clock, wire.errorHandler());
            for (int i = 0; i < BUFFERS; i++) {
                free.add(new ServerBuffer(i, 0, new UnsafeBuffer(new byte[BUFFER_SIZE])));
            }
        }

        /** A message of one part, as t2 hands it over; its tag. */
        void send(int length) {
            until(this, "an empty buffer", () -> !free.isEmpty());
            ServerBuffer buffer = free.remove(0);
            int tag = ++sent;
            int block =
                    new DartMetadata()
                            .name("m" + tag)
                            .payload(length, false, 0)
                            .encode(buffer.window(), 0);
            buffer.window().putBytes(block, DartWorld.bytes(length, tag), 0, length);
            buffer.beginPull(0, block, length, 0);
            buffer.owned(0, 0, 1, ordinal++);
            buffer.describe(tag, tag, 0, length);
            buffer.flagged(FrameFlyweight.FIRST | FrameFlyweight.LAST);
            offsets.add(written);
            written +=
                    buffer.length() + (buffer.length() + FRAME - 1) / FRAME * FrameFlyweight.LENGTH;
            assertThat(shared.full.offer(buffer)).isTrue();
        }

        /** Says that the process of this client was lost. */
        void sayLost(int client, int rank) {
            until(this, "an empty buffer", () -> !free.isEmpty());
            ServerBuffer buffer = free.remove(0);
            buffer.window().putInt(0, 0, BIG_ENDIAN);
            buffer.window().putInt(4, rank, BIG_ENDIAN);
            buffer.window().putInt(8, 0, BIG_ENDIAN);
            buffer.beginPull(0, ClientNotice.LENGTH, 0, 0);
            buffer.owned(0, 0, client, ordinal++);
            buffer.describe(0, sent + 1, 0, 0);
            buffer.flagged(FrameFlyweight.CLIENT_LOST);
            assertThat(shared.full.offer(buffer)).isTrue();
        }

        void takeBack() {
            ServerBuffer buffer;
            while ((buffer = shared.empty.poll()) != null) {
                free.add(buffer);
                promised.add(buffer.tag());
            }
            while ((buffer = shared.replayed.poll()) != null) {
                confirmed.add(buffer.tag());
            }
            while ((buffer = shared.losses.poll()) != null) {
                lost.add(buffer.tag());
            }
        }
    }

    /** What else a server has. */
    DartServer.Context context(DartServer.Context of) {
        return of;
    }

    /** What else the receiver has. */
    DartReceiver.Context context(DartReceiver.Context of) {
        return of;
    }

    private void onMessage(DartMessage message) {
        byte[] bytes = new byte[message.length()];
        message.buffer().getBytes(message.offset(), bytes);
        assertThat(bytes).isEqualTo(DartWorld.bytes(bytes.length, message.tag()).byteArray());
        received.add(message.tag());
    }

    void until(Server of, String what, BooleanSupplier condition) {
        boolean isReached =
                of.both.runUntil(
                        () -> {
                            of.takeBack();
                            return condition.getAsBoolean();
                        },
                        STEPS_MAX);
        assertThat(isReached)
                .as(
                        "%s; received %s, %s, errors %s",
                        what,
                        received,
                        of.shared.spillStatistics(),
                        wire.errors.subList(0, Math.min(8, wire.errors.size())))
                .isTrue();
    }

    Server start(int run) {
        server = new Server(run, 1 << 26);
        return server;
    }

    List<Integer> upTo(int last) {
        List<Integer> all = new ArrayList<>();
        for (int i = 1; i <= last; i++) {
            all.add(i);
        }
        return all;
    }

    @AfterEach
    void close() {
        receiving.close();
    }
}
