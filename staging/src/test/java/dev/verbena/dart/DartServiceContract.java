package dev.verbena.dart;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.agent.Await;
import dev.verbena.dart.config.Assignments;
import dev.verbena.dart.wire.RegisterFlyweight;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.agrona.MutableDirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * What servers do beside transferring: commands, hints, barriers, stopping. One small subclass for
 * each provider names the scheme.
 */
@Timeout(value = 120, unit = TimeUnit.SECONDS)
public abstract class DartServiceContract extends DartStopContract {
    private static final int ECHO = 7;
    private static final int BROKEN = 8;
    private static final int WHO = 0;

    /** For subclasses in other modules. */
    protected DartServiceContract() {}

    private static void addHandlers(DartServer.Context context) {
        context.commandHandler(
                        ECHO,
                        (command, reply) -> {
                            reply.putBytes(0, command.buffer(), command.offset(), command.length());
                            return command.length();
                        })
                .commandHandler(
                        BROKEN,
                        (command, reply) -> {
                            throw new IllegalStateException("out of coffee");
                        })
                .commandHandler(
                        WHO,
                        (command, reply) -> {
                            String who =
                                    command.clientId()
                                            + " "
                                            + command.applicationId()
                                            + " "
                                            + command.rank()
                                            + " "
                                            + command.type();
                            return reply.putStringWithoutLengthAscii(0, who);
                        });
    }

    // ---- the transport

    /** Before the master, so that there is no configuration at first. */
    @Test
    void shouldTakeTheTransportOfTheConfiguration() throws Exception {
        try (DartWorld world = world().receive()) {
            DartServer slave = world.slave(c -> c.transport(""));
            DartClient early = DartClient.start(world.clientContext(1).transport(""));
            world.clients.add(early);
            assertThat(early.progress()).isZero();
            assertThatThrownBy(early::transport)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("its transport is not known");
            world.master(c -> addHandlers(c.serverCount(2)));
            slave.awaitReady(DartWorld.LIMIT_NS);
            Await.until(
                    () -> "connected",
                    () -> {
                        early.progress();
                        return early.isConnected();
                    });
            DartClient late = world.client(2, c -> c.transport(""));
            assertThat(early.transport().uri().getScheme()).isEqualTo(scheme());
            assertThat(late.transport().uri().getScheme()).isEqualTo(scheme());
            assertThat(slave.uri().getScheme()).isEqualTo(scheme());
            early.sendCopy(DartWorld.bytes(100, 1), 0, 100, null, 1);
            late.sendCopy(DartWorld.bytes(100, 1), 0, 100, null, 1);
            world.awaitReceived(2);
        }
    }

    @Test
    void shouldGiveUpInTimeWhereThereIsNoConfiguration() {
        long begin = System.nanoTime();
        try (DartWorld world = world()) {
            DartClient.Context context = world.clientContext(0).transport("");
            assertThatThrownBy(() -> DartClient.connect(context.bootTimeoutNs(SHORT_NS)))
                    .hasMessageContaining("gave up after 300 ms: there is no file")
                    .satisfies(e -> isFailure(e, DartException.Code.NOT_BOOTSTRAPPED));
            assertThat(System.nanoTime() - begin).isGreaterThanOrEqualTo(SHORT_NS);
            DartServer slave =
                    world.slave(c -> c.transport("").receiver("127.0.0.1", 9).bootTimeoutNs(0));
            assertThatThrownBy(() -> slave.awaitReady(DartWorld.LIMIT_NS))
                    .hasMessageContaining("there is no file")
                    .satisfies(e -> isFailure(e, DartException.Code.NOT_BOOTSTRAPPED));
        } catch (java.io.IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    @Test
    void shouldSayAtOnceThatTheDirectoryOfTheFileCannotBeMade() throws Exception {
        try (DartWorld world = world()) {
            DartServer slave =
                    world.slave(c -> c.transport("").configurationFile("/proc/none/dart.conf"));
            assertThatThrownBy(() -> slave.awaitReady(DartWorld.LIMIT_NS))
                    .hasMessageContaining("cannot make the directory /proc/none")
                    .satisfies(e -> isFailure(e, DartException.Code.NOT_BOOTSTRAPPED));
            assertThat(slave.awaitStopped(DartWorld.LIMIT_NS)).isTrue();
        }
    }

    /** A file that was left over may be of another transport than the next master's. */
    @Test
    void shouldTakeNoTransportFromAFileThatWasLeftOver() throws Exception {
        try (DartWorld world = world().receive()) {
            java.net.URI gone = java.net.URI.create("elsewhere://gone");
            java.nio.file.Files.writeString(
                    java.nio.file.Path.of(world.configurationFile()),
                    new DartConfiguration(new java.util.UUID(1, 2), 1, gone, 1, 0).encode());
            DartClient.Context brief = world.clientContext(0).transport("").bootTimeoutNs(SHORT_NS);
            assertThatThrownBy(() -> DartClient.connect(brief))
                    .hasMessageContaining("the file is stale");
            DartClient client = DartClient.start(world.clientContext(1).transport(""));
            world.clients.add(client);
            assertThat(client.progress()).isZero();
            world.master();
            Await.until(
                    () -> "connected",
                    () -> {
                        client.progress();
                        return client.isConnected();
                    });
        }
    }

    // ---- commands

    @Test
    void shouldAnswerCommands() throws Exception {
        try (DartWorld world = world().receive()) {
            world.master(DartServiceContract::addHandlers);
            DartClient client = world.client(5, c -> c.applicationId(3));
            for (int length : new int[] {0, 1, 63, 1000, DartClient.COMMAND_LENGTH_MAX}) {
                byte[] payload = DartWorld.bytes(length, length).byteArray();
                assertThat(client.command(ECHO, payload)).isEqualTo(payload);
            }
            assertThat(new String(client.command(WHO), StandardCharsets.US_ASCII))
                    .isEqualTo(client.clientId() + " 3 5 0");
            UnsafeBuffer inside = DartWorld.bytes(100, 1);
            byte[] middle = new byte[10];
            inside.getBytes(50, middle);
            assertThat(client.command(ECHO, inside, 50, 10, DartWorld.LIMIT_NS)).isEqualTo(middle);
        }
    }

    @Test
    void shouldSayWhyACommandFailed() throws Exception {
        try (DartWorld world = world().receive()) {
            world.master(DartServiceContract::addHandlers);
            DartClient client = world.client(0);
            assertThatThrownBy(() -> client.command(BROKEN))
                    .hasMessageContaining("out of coffee")
                    .satisfies(e -> isFailure(e, DartException.Code.COMMAND_FAILED));
            assertThatThrownBy(() -> client.command(99))
                    .hasMessageContaining("no handler for command 99")
                    .satisfies(e -> isFailure(e, DartException.Code.COMMAND_FAILED));
            assertThatThrownBy(() -> client.command(-1))
                    .isInstanceOf(IllegalArgumentException.class);
            byte[] tooLong = new byte[DartClient.COMMAND_LENGTH_MAX + 1];
            assertThatThrownBy(() -> client.command(ECHO, tooLong))
                    .isInstanceOf(IllegalArgumentException.class);
            // The server goes on.
            assertThat(client.command(ECHO, (byte) 3)).containsExactly(3);
        }
    }

    @Test
    void shouldGiveEachHandlerMemoryForItsReply() throws Exception {
        try (DartWorld world = world().receive()) {
            world.master(
                    c -> {
                        addHandlers(c);
                        c.commandHandler(1, (command, reply) -> wrapped(reply));
                        c.commandHandler(
                                2,
                                (command, reply) -> {
                                    throw new IllegalStateException("no " + wrapped(reply));
                                });
                        c.commandHandler(3, (command, reply) -> 2);
                    });
            DartClient client = world.client(0);
            for (String text : List.of("wrapped its reply", "no 1")) {
                int type = text.startsWith("no") ? 2 : 1;
                assertThatThrownBy(() -> client.command(type))
                        .hasMessageContaining(text)
                        .satisfies(e -> isFailure(e, DartException.Code.COMMAND_FAILED));
                assertThat(client.command(ECHO, (byte) 3, (byte) 4)).containsExactly(3, 4);
            }
            assertThat(client.command(3)).containsExactly(0, 0);
        }
    }

    private static int wrapped(MutableDirectBuffer reply) {
        reply.wrap(new byte[] {9});
        return 1;
    }

    @Test
    void shouldGiveUpACommandThatIsNotAnsweredAndIgnoreItsLateReply() throws Exception {
        CountDownLatch go = new CountDownLatch(1);
        try (DartWorld world = world().receive()) {
            world.master(
                    c -> {
                        addHandlers(c);
                        c.commandHandler(
                                1,
                                (command, reply) -> {
                                    awaitUninterrupted(go);
                                    reply.putByte(0, (byte) 1);
                                    return 1;
                                });
                    });
            DartClient client = world.client(0);
            assertThatThrownBy(() -> client.command(1, new UnsafeBuffer(), 0, 0, SHORT_NS))
                    .satisfies(e -> isFailure(e, DartException.Code.TIMEOUT));
            go.countDown();
            assertThat(client.command(ECHO, (byte) 2)).containsExactly(2);
        } finally {
            go.countDown();
        }
    }

    @Test
    void shouldAverageTimings() throws Exception {
        try (DartWorld world = world().receive()) {
            DartServer master = world.master();
            world.client(0).reportTimings(1, 10);
            world.client(1).reportTimings(3);
            DartTimings timings = master.timings();
            assertThat(timings.reportCount()).isEqualTo(2);
            assertThat(timings.means()).hasSize(DartTimings.LENGTH).startsWith(2, 10, 0);
            assertThatThrownBy(() -> world.clients.get(0).reportTimings(new double[21]))
                    .isInstanceOf(IllegalArgumentException.class);
        }
    }

    @Test
    void shouldGiveEachApplicationDenseIdsOfItsOwn() throws Exception {
        try (DartWorld world = world().receive()) {
            world.master(c -> c.serverCount(2));
            world.slave();
            for (int rank = 0; rank < 3; rank++) {
                for (int application : new int[] {0, 5, RegisterFlyweight.APPLICATION_MAX}) {
                    DartClient client = world.client(rank, c -> c.applicationId(application));
                    assertThat(client.clientId())
                            .isPositive()
                            .isEqualTo(Assignments.minimumId(application) + rank);
                    client.sendCopy(DartWorld.bytes(10, 1), 0, 10, null, client.clientId());
                }
            }
            world.awaitReceived(9);
            assertThat(world.received).allMatch(m -> m.tag() == m.clientId());
        }
    }

    // ---- hints

    @Test
    void shouldPullNothingWhileSuspendedAndKeepOrderAfter() throws Exception {
        try (DartWorld world = world().receive()) {
            DartServer master = world.master();
            DartClient client = world.client(0, c -> c.maxInFlight(8));
            DartClient other = world.client(1);
            client.suspend();
            // The answer to a command says that what was sent before it has come.
            assertThatThrownBy(() -> client.command(1));
            for (int i = 0; i < 4; i++) {
                client.sendCopy(DartWorld.bytes(100, i), 0, 100, null, i);
            }
            other.sendCopy(DartWorld.bytes(100, 9), 0, 100, null, 100)
                    .await(TicketState.STREAMED, DartWorld.LIMIT_NS);
            Await.until(
                    "headers wait",
                    () -> {
                        client.progress();
                        return master.statistics().parkedHeaderCount() == 4;
                    });
            assertThat(world.received).extracting(DartWorld.Received::tag).containsExactly(100);
            client.resume();
            client.suspend();
            client.resume();
            for (int i = 4; i < 8; i++) {
                client.sendCopy(DartWorld.bytes(100, i), 0, 100, null, i);
            }
            client.flush(DartWorld.LIMIT_NS);
            // Whoever waits for a transfer ends the suspension.
            client.suspend();
            client.sendCopy(DartWorld.bytes(100, 8), 0, 100, null, 8);
            client.flush(DartWorld.LIMIT_NS);
            assertThat(world.received)
                    .extracting(DartWorld.Received::tag)
                    .containsExactly(100, 0, 1, 2, 3, 4, 5, 6, 7, 8);
        }
    }

    // ---- barrier

    @Test
    void shouldHoldServersAtABarrierUntilAllAreThere() throws Exception {
        try (DartWorld world = world().receive()) {
            List<DartServer> servers = new ArrayList<>();
            servers.add(world.master(c -> c.serverCount(3)));
            servers.add(world.slave());
            servers.add(world.slave());
            for (DartServer server : servers) {
                server.awaitReady(DartWorld.LIMIT_NS);
            }
            for (int round = 0; round < 3; round++) {
                CompletableFuture<Void> first = enter(servers.get(0));
                CompletableFuture<Void> second = enter(servers.get(1 + round % 2));
                assertThatThrownBy(() -> first.get(100, TimeUnit.MILLISECONDS))
                        .isInstanceOf(java.util.concurrent.TimeoutException.class);
                assertThat(second).isNotDone();
                servers.get(2 - round % 2).barrier(DartWorld.LIMIT_NS);
                first.get(30, TimeUnit.SECONDS);
                second.get(30, TimeUnit.SECONDS);
            }
            assertThatThrownBy(() -> servers.get(0).barrier(SHORT_NS))
                    .hasMessageContaining("is not there")
                    .satisfies(e -> isFailure(e, DartException.Code.TIMEOUT));
            // It entered: the others are released, and it enters the same again, not the next.
            CompletableFuture<Void> second = enter(servers.get(1));
            servers.get(2).barrier(DartWorld.LIMIT_NS);
            second.get(30, TimeUnit.SECONDS);
            servers.get(0).barrier(DartWorld.LIMIT_NS);
            // Those who are gone do not count.
            servers.get(2).close();
            CompletableFuture<Void> left = enter(servers.get(0));
            servers.get(1).barrier(DartWorld.LIMIT_NS);
            left.get(30, TimeUnit.SECONDS);
            // Who comes late goes on with the others.
            DartServer late = world.slave();
            late.awaitReady(DartWorld.LIMIT_NS);
            for (int round = 0; round < 2; round++) {
                CompletableFuture<Void> master = enter(servers.get(0));
                CompletableFuture<Void> slave = enter(servers.get(1));
                assertThatThrownBy(() -> master.get(100, TimeUnit.MILLISECONDS))
                        .isInstanceOf(java.util.concurrent.TimeoutException.class);
                late.barrier(DartWorld.LIMIT_NS);
                master.get(30, TimeUnit.SECONDS);
                slave.get(30, TimeUnit.SECONDS);
            }
        }
    }

    private static CompletableFuture<Void> enter(DartServer server) {
        // A thread each: the common pool has one on a machine of two processors.
        return CompletableFuture.runAsync(
                () -> server.barrier(DartWorld.LIMIT_NS), task -> new Thread(task).start());
    }
}
