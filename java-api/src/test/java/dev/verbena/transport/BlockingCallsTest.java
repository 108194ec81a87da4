package dev.verbena.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.memory.RegisteredRegion;
import dev.verbena.memory.RemoteDescriptor;
import dev.verbena.shm.ShmTesting;
import java.net.URI;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.function.Consumer;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class BlockingCallsTest {
    private static final long LONG_NS = Long.MAX_VALUE;

    /** With which what is first under way to a peer that dies is lost. */
    private static final long SEED =
            LongStream.range(0, 64)
                    .filter(seed -> new SplittableRandom(seed).nextBoolean())
                    .findFirst()
                    .getAsLong();

    private static BlockingCalls open(TransportContext context) {
        return BlockingCalls.open("shm", context).timeoutNs(LONG_NS);
    }

    private static BlockingCalls open(String name) {
        return open(ShmTesting.context(name));
    }

    /** Runs on another thread, with a transport of its own. */
    private static CompletableFuture<Void> other(Consumer<BlockingCalls> program) {
        return CompletableFuture.runAsync(
                () -> {
                    try (BlockingCalls calls = open("other")) {
                        program.accept(calls);
                    }
                });
    }

    private static void send(BlockingCalls calls, long connection, long... values) {
        try (RegisteredRegion outbox = calls.transport().allocate(8, 0)) {
            for (long value : values) {
                outbox.buffer(0, 8).putLong(0, value);
                calls.send(connection, outbox, 0, 8);
            }
        }
    }

    private static Transport counting(Transport transport, CountDownLatch attempts) {
        return new TracingTransport(
                transport,
                line -> {
                    if (line.contains("NOT_LISTENING")) {
                        attempts.countDown();
                    }
                });
    }

    @Test
    void shouldWaitForAPeerThatListensLater() throws Exception {
        TransportContext late = ShmTesting.context("late");
        URI uri = URI.create("shm://" + late.job() + "/" + late.name());
        CountDownLatch attempts = new CountDownLatch(3);
        CompletableFuture<Void> client =
                CompletableFuture.runAsync(
                        () -> {
                            Transport transport = counting(ShmTesting.open("early"), attempts);
                            try (BlockingCalls calls = new BlockingCalls(transport)) {
                                calls.timeoutNs(LONG_NS);
                                send(calls, calls.connect(uri), 77);
                            }
                        });
        attempts.await();
        try (BlockingCalls calls = open(late)) {
            assertThat(calls.receive(calls.accept()).getLong(0)).isEqualTo(77);
            client.get();
        }
    }

    @Test
    void shouldFailAtOnceWhereWaitingDoesNotHelp() {
        try (BlockingCalls calls = open("hasty")) {
            URI wrong = URI.create("shm://another-job/name");
            assertThatThrownBy(() -> calls.connect(wrong))
                    .isInstanceOf(TransportException.class)
                    .hasMessageContaining("another-job")
                    .hasMessageContaining("REFUSED");
            assertThatThrownBy(() -> calls.connect(URI.create("tcp://host:1/")))
                    .isInstanceOf(IllegalArgumentException.class);
        }
    }

    @Test
    void shouldNameWhatItWaitedForWhenTheTimeIsUp() {
        try (BlockingCalls calls = open("patient").timeoutNs(1)) {
            URI nobody = URI.create("shm://" + ShmTesting.job() + "/nobody");
            assertThatThrownBy(() -> calls.connect(nobody))
                    .isInstanceOf(TransportException.class)
                    .hasMessageContaining(nobody.toString())
                    .hasMessageContaining("NOT_LISTENING");
            assertThatThrownBy(calls::accept)
                    .isInstanceOf(TransportException.class)
                    .hasMessageContaining("waited for somebody who connects longer than 1 ns");
        }
    }

    /** Its slot, in memory that is unmapped by then, is not looked at. */
    @Test
    void shouldHandOutWhatCameBeforeTheTransportWasClosed() throws Exception {
        BlockingCalls calls = open("closing");
        try (calls) {
            calls.transport().listen();
            URI uri = calls.transport().uri();
            CompletableFuture<Void> client =
                    other(
                            peer -> {
                                long connection = peer.connect(uri);
                                send(peer, connection, 1, 2);
                                assertThat(peer.receive(connection).getLong(0)).isEqualTo(3);
                                peer.disconnect(connection);
                            });
            long connection = calls.accept();
            assertThat(calls.receive(connection).getLong(0)).isEqualTo(1);
            send(calls, connection, 3);
            client.get();
            assertThat(calls.awaitNotification(connection)).isNull();
            calls.close();
            assertThat(calls.receive(connection).getLong(0)).isEqualTo(2);
        }
    }

    @Test
    void shouldHandOutWhatCameDuringOtherCallsAndThenTheEnd() throws Exception {
        try (BlockingCalls calls = open("server")) {
            calls.transport().listen();
            URI uri = calls.transport().uri();
            CompletableFuture<Void> client =
                    other(
                            peer -> {
                                long connection = peer.connect(uri);
                                send(peer, connection, 1, 2, 3);
                                assertThat(peer.receive(connection).getLong(0)).isEqualTo(4);
                                peer.disconnect(connection);
                            });
            long connection = calls.accept();
            assertThat(calls.receive(connection).getLong(0)).isEqualTo(1);
            send(calls, connection, 4);
            client.get();
            assertThat(calls.receive(connection).getLong(0)).isEqualTo(2);
            assertThat(calls.receive(connection).getLong(0)).isEqualTo(3);
            assertThat(calls.receive(connection)).isNull();
            assertThat(calls.awaitNotification(connection)).isNull();
            calls.disconnect(connection);
            assertThatThrownBy(() -> calls.receive(connection))
                    .isInstanceOf(IllegalArgumentException.class);
        }
    }

    @Test
    void shouldMoveBytesAndTellHowAnOperationFailed() throws Exception {
        try (BlockingCalls calls = open("target");
                RegisteredRegion window =
                        calls.transport().allocate(64, RemoteDescriptor.REMOTE_ALL)) {
            calls.transport().listen();
            URI uri = calls.transport().uri();
            RemoteDescriptor target =
                    window.describe(0, 64, window.rights(), new RemoteDescriptor());
            CompletableFuture<Void> initiator = other(peer -> move(peer, uri, target));
            long connection = calls.accept();
            assertThat(calls.awaitNotification(connection).tag()).isEqualTo(5);
            assertThat(window.buffer(0, 64).getLong(16)).isEqualTo(99);
            calls.disconnect(connection);
            initiator.get();
        }
    }

    private static void move(BlockingCalls calls, URI uri, RemoteDescriptor target) {
        Transport transport = calls.transport();
        try (RegisteredRegion local = transport.allocate(64, 0)) {
            long connection = calls.connect(uri);
            local.buffer(0, 64).putLong(0, 99);
            calls.put(connection, local, 0, target, 16, 8);
            calls.get(connection, local, 8, target, 16, 8);
            assertThat(local.buffer(0, 64).getLong(8)).isEqualTo(99);
            assertThatThrownBy(() -> calls.put(connection, local, 0, target, 60, 8))
                    .isInstanceOf(TransportException.class)
                    .hasMessage("put ended with BOUNDS");
            long before =
                    calls.complete(
                            "fetchAdd",
                            context -> transport.fetchAdd(connection, target, 24, 7, context, 0));
            assertThat(before).isZero();
            calls.complete(
                    "putNotify",
                    context ->
                            transport.putNotify(
                                    connection, local, 0, target, 32, 8, 5, context, 0));
            assertThat(calls.receive(connection)).as("the end").isNull();
            assertThatThrownBy(() -> calls.put(connection, local, 0, target, 16, 8))
                    .isInstanceOf(TransportException.class)
                    .hasMessageContaining("NOT_CONNECTED");
        }
    }

    @Test
    void shouldSayWhyThePeerWasLostWhenThatEndedAnOperation() throws Exception {
        try (BlockingCalls calls = open("target");
                RegisteredRegion window =
                        calls.transport().allocate(64, RemoteDescriptor.REMOTE_ALL)) {
            calls.transport().listen();
            URI uri = calls.transport().uri();
            RemoteDescriptor target =
                    window.describe(0, 64, window.rights(), new RemoteDescriptor());
            CompletableFuture<Void> victim =
                    CompletableFuture.runAsync(() -> loseAPeer(uri, target));
            assertThat(calls.receive(calls.accept())).as("the end").isNull();
            victim.get();
        }
    }

    private static void loseAPeer(URI uri, RemoteDescriptor target) {
        FaultyTransport faulty =
                new FaultyTransport(ShmTesting.open("victim"), FaultOptions.none(SEED));
        try (BlockingCalls calls = new BlockingCalls(faulty).timeoutNs(LONG_NS);
                RegisteredRegion local = calls.transport().allocate(64, 0)) {
            long connection = calls.connect(uri);
            assertThatThrownBy(
                            () ->
                                    calls.complete(
                                            "put",
                                            context -> {
                                                int answer =
                                                        faulty.put(
                                                                connection,
                                                                local,
                                                                0,
                                                                target,
                                                                0,
                                                                8,
                                                                context,
                                                                0);
                                                faulty.kill(connection, "the cable is cut");
                                                return answer;
                                            }))
                    .isInstanceOf(TransportException.class)
                    .hasMessage("put ended with PEER_DEAD: the cable is cut");
        }
    }
}
