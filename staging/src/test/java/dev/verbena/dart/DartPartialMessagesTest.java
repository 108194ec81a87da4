package dev.verbena.dart;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.agent.Await;
import dev.verbena.dart.DartSecretTest.Stranger;
import dev.verbena.dart.wire.FrameFlyweight;
import java.io.IOException;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Messages that are half received when their server goes away; servers are made by hand. */
@Timeout(180)
@Tag("once")
class DartPartialMessagesTest {
    private static final UUID JOB = new UUID(21, 22);
    private static final int HALF = 100_000;

    /** Servers made by hand say nothing while they have nothing to send. */
    private static final long SILENCE_NS = 120_000_000_000L;

    /** A server that sends by hand the two halves of one message, which is its first. */
    private static final class HalfServer implements AutoCloseable {
        private final Stranger stranger;
        private final int id;
        private final int half;
        private final UnsafeBuffer content;

        HalfServer(int port, int id, int half) throws IOException {
            this.stranger = new Stranger(port);
            this.id = id;
            this.half = half;
            this.content = DartWorld.bytes(2 * half, id);
        }

        /** Says HELLO; the type of the answer. */
        int hello(long lastSent) throws IOException {
            stranger.hello(JOB, id, lastSent);
            return stranger.type();
        }

        void first() throws IOException {
            UnsafeBuffer payload = new UnsafeBuffer(new byte[half + DartMetadata.LENGTH_MAX]);
            int block = block(payload);
            payload.putBytes(block, content, 0, half);
            send(payload, block + half, FrameFlyweight.FIRST, 1, 0);
        }

        void second() throws IOException {
            UnsafeBuffer payload = new UnsafeBuffer(new byte[half]);
            payload.putBytes(0, content, half, half);
            int position = block(new UnsafeBuffer(new byte[DartMetadata.LENGTH_MAX])) + half;
            send(payload, half, FrameFlyweight.LAST, 2, position);
        }

        void givenUp() throws IOException {
            send(new UnsafeBuffer(new byte[0]), 0, FrameFlyweight.GIVEN_UP, 2, 0);
        }

        private int block(UnsafeBuffer to) {
            return new DartMetadata().name("from-" + id).payload(2L * half, false, 0).encode(to, 0);
        }

        private void send(UnsafeBuffer payload, int length, int flags, long sequence, long position)
                throws IOException {
            UnsafeBuffer frame = new UnsafeBuffer(new byte[FrameFlyweight.LENGTH + length]);
            frame.putBytes(FrameFlyweight.LENGTH, payload, 0, length);
            new FrameFlyweight()
                    .begin(frame, 0, FrameFlyweight.DATA)
                    .flags(flags)
                    .sequence(sequence)
                    .message(100 + id, 1, id, position)
                    .end(frame, FrameFlyweight.LENGTH, length);
            stranger.write(frame.byteArray());
        }

        /** Waits until everything before this frame is acknowledged. */
        void awaitAck(long next) throws IOException {
            await(FrameFlyweight.ACK, next);
        }

        void await(int type, long next) throws IOException {
            while (true) {
                if (stranger.type() == type
                        && stranger.answer.getLong(0, ByteOrder.BIG_ENDIAN) >= next) {
                    return;
                }
            }
        }

        @Override
        public void close() throws IOException {
            stranger.close();
        }
    }

    private static void leaveHalf(int port, int id, int half) throws IOException {
        try (HalfServer server = new HalfServer(port, id, half)) {
            assertThat(server.hello(0)).isEqualTo(FrameFlyweight.HELLO_ACK);
            server.first();
            server.awaitAck(2);
        }
    }

    private static long putAsideCount(DartWorld world) {
        return DartWorld.counter(world.environment, "half messages put aside");
    }

    @Test
    void shouldPutHalfMessagesAsideAndGoOnWhenTheirServersComeBack() throws Exception {
        try (DartWorld world = new DartWorld("shm")) {
            Path out = world.directory.resolve("out");
            world.receive(
                    world.receiverContext()
                            .directory(out.toString())
                            .unfinishedBytesMax(HALF)
                            .silenceTimeoutNs(SILENCE_NS));
            int port = world.receiver.port();
            for (int id = 0; id < 4; id++) {
                leaveHalf(port, id, HALF);
            }
            Await.until("put aside", () -> putAsideCount(world) >= 3);
            for (int id = 0; id < 4; id++) {
                try (HalfServer server = new HalfServer(port, id, HALF)) {
                    assertThat(server.hello(1)).isEqualTo(FrameFlyweight.HELLO_ACK);
                    server.second();
                    server.awaitAck(3);
                }
                byte[] expected = DartWorld.bytes(2 * HALF, id).byteArray();
                assertThat(Files.readAllBytes(out.resolve("from-" + id))).isEqualTo(expected);
                assertThat(world.received.get(id).payload()).isEqualTo(expected);
                assertThat(world.received.get(id).isCorrupt()).isFalse();
            }
            assertThat(world.received).hasSize(4);
            assertThat(world.errors).isEmpty();
        }
    }

    @Test
    void shouldPutHalfMessagesOfConnectedServersAsideToo() throws Exception {
        List<HalfServer> servers = new ArrayList<>();
        try (DartWorld world = new DartWorld("shm")) {
            Path out = world.directory.resolve("out");
            world.receive(
                    world.receiverContext()
                            .directory(out.toString())
                            .unfinishedBytesMax(HALF)
                            .silenceTimeoutNs(SILENCE_NS));
            for (int id = 0; id < 4; id++) {
                HalfServer server = new HalfServer(world.receiver.port(), id, HALF);
                servers.add(server);
                assertThat(server.hello(0)).isEqualTo(FrameFlyweight.HELLO_ACK);
                server.first();
                server.awaitAck(2);
            }
            Await.until("put aside", () -> putAsideCount(world) >= 3);
            for (int id = 0; id < 4; id++) {
                servers.get(id).second();
                servers.get(id).awaitAck(3);
                byte[] expected = DartWorld.bytes(2 * HALF, id).byteArray();
                assertThat(Files.readAllBytes(out.resolve("from-" + id))).isEqualTo(expected);
                assertThat(world.received.get(id).payload()).isEqualTo(expected);
                assertThat(world.received.get(id).isCorrupt()).isFalse();
            }
            assertThat(world.received).hasSize(4);
            assertThat(world.errors).isEmpty();
            for (HalfServer server : servers) {
                server.close();
            }
        } finally {
            for (HalfServer server : servers) {
                server.close();
            }
        }
    }

    @Test
    void shouldNameWhatItGivesUpAndRefuseItsServerUnlessGapsAreAccepted() throws Exception {
        for (boolean isAccepting : new boolean[] {false, true}) {
            try (DartWorld world = new DartWorld("shm")) {
                world.receive(
                        world.receiverContext()
                                .unfinishedBytesMax(HALF)
                                .acceptGaps(isAccepting)
                                .silenceTimeoutNs(1_000_000_000L));
                int port = world.receiver.port();
                leaveHalf(port, 0, HALF);
                Await.until("given up", () -> world.receiver.statistics().abandonedCount() == 1);
                assertThat(world.errors)
                        .anyMatch(e -> e.getMessage().contains("message 1 of client 100"));
                try (HalfServer server = new HalfServer(port, 0, HALF)) {
                    int answer = server.hello(1);
                    if (isAccepting) {
                        assertThat(answer).isEqualTo(FrameFlyweight.HELLO_ACK);
                        server.second();
                        server.await(FrameFlyweight.NACK, 2);
                        server.givenUp();
                        server.awaitAck(3);
                    } else {
                        assertThat(answer).isEqualTo(FrameFlyweight.ERROR);
                    }
                }
                assertThat(world.received).isEmpty();
                world.master();
                DartClient client = world.client(0);
                client.sendCopy(DartWorld.bytes(1000, 1), 0, 1000, null, 1);
                client.flush(DartWorld.LIMIT_NS);
                assertThat(world.received).hasSize(1);
            }
        }
    }

    /** What was acknowledged of it would be lost without a word to its process. */
    @Test
    void shouldNotStartWhereALongerMessageWasBegunThanItMayTake() throws Exception {
        try (DartWorld world = new DartWorld("shm")) {
            String out = world.directory.resolve("out").toString();
            world.receive(world.receiverContext().directory(out).silenceTimeoutNs(SILENCE_NS));
            leaveHalf(world.receiver.port(), 0, HALF);
            world.receiver.close();
            assertThatThrownBy(
                            () ->
                                    DartReceiver.launch(
                                            world.receiverContext()
                                                    .directory(out)
                                                    .messageLengthMax(2 * HALF - 1)))
                    .isInstanceOf(DartException.class)
                    .hasMessageContaining("200000 bytes")
                    .hasMessageContaining("messageLengthMax");
            world.receive(
                    world.receiverContext()
                            .directory(out)
                            .messageLengthMax(2 * HALF)
                            .silenceTimeoutNs(SILENCE_NS));
            try (HalfServer server = new HalfServer(world.receiver.port(), 0, HALF)) {
                assertThat(server.hello(1)).isEqualTo(FrameFlyweight.HELLO_ACK);
                server.second();
                server.awaitAck(3);
            }
            assertThat(world.received).hasSize(1);
            assertThat(world.received.get(0).payload())
                    .isEqualTo(DartWorld.bytes(2 * HALF, 0).byteArray());
            assertThat(world.errors).isEmpty();
        }
    }

    /** More than all the memory that the receiver may have is left half received. */
    @Test
    void shouldNotRunOutOfMemoryWhenManyServersAreKilled() throws Exception {
        int half = 1_000_000;
        int servers = 200;
        try (DartWorld world = new DartWorld("shm")) {
            Path out = world.directory.resolve("out");
            try (ReceiverProcess receiver = new ReceiverProcess(out, 0)) {
                for (int id = 1; id <= servers; id++) {
                    leaveHalf(receiver.port, id, half);
                }
                world.receiverPort = receiver.port;
                DartServer master = world.master();
                DartClient client = world.client(0);
                client.sendCopy(
                        DartWorld.bytes(50_000, 1), 0, 50_000, new DartMetadata().name("true"), 1);
                client.flush(DartWorld.LIMIT_NS);
                assertThat(Files.readAllBytes(out.resolve("true")))
                        .isEqualTo(DartWorld.bytes(50_000, 1).byteArray());
                try (HalfServer back = new HalfServer(receiver.port, 1, half)) {
                    assertThat(back.hello(1)).isEqualTo(FrameFlyweight.HELLO_ACK);
                    back.second();
                    back.awaitAck(3);
                }
                assertThat(Files.readAllBytes(out.resolve("from-1")))
                        .isEqualTo(DartWorld.bytes(2 * half, 1).byteArray());
                master.requestStop();
                assertThat(master.awaitStopped(DartWorld.LIMIT_NS)).isTrue();
                assertThat(receiver.exitCode()).isZero();
            }
        }
    }
}
