package dev.verbena.dart;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.verbena.agent.Await;
import dev.verbena.dart.config.Assignments;
import dev.verbena.dart.wire.RegisterFlyweight;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * What servers do beside transferring: commands, hints, barriers, stopping. One small subclass for
 * each provider names the scheme.
 */
@Timeout(value = 120, unit = TimeUnit.SECONDS)
public abstract class DartServiceContract {
    private static final int ECHO = 7;
    private static final int BROKEN = 8;
    private static final int WHO = 0;
    private static final long SHORT_NS = 300_000_000L;

    /** For subclasses in other modules. */
    protected DartServiceContract() {}

    /** URI scheme of the provider. */
    protected abstract String scheme();

    private DartWorld world() {
        return new DartWorld(scheme());
    }

    private static void isFailure(Throwable e, DartException.Code code) {
        assertThat(((DartException) e).code()).isEqualTo(code);
    }

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

    private static void awaitUninterrupted(CountDownLatch latch) {
        try {
            latch.await(30, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
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
        }
    }

    private static CompletableFuture<Void> enter(DartServer server) {
        // A thread each: the common pool has one on a machine of two processors.
        return CompletableFuture.runAsync(
                () -> server.barrier(DartWorld.LIMIT_NS), task -> new Thread(task).start());
    }

    // ---- stopping

    @Test
    @Tag("dart-D40")
    void shouldRefuseNewMessagesAndDeliverTheRestWhenStopped() throws Exception {
        CountDownLatch go = new CountDownLatch(1);
        try (DartWorld world = world().receive()) {
            world.onMessage = () -> awaitUninterrupted(go);
            DartServer master = world.master(c -> c.bufferCount(3));
            DartClient client = world.client(0, c -> c.maxInFlight(8));
            List<DartTicket> accepted = new ArrayList<>();
            for (int i = 0; i < 6; i++) {
                accepted.add(client.sendCopy(DartWorld.bytes(100, i), 0, 100, null, i));
            }
            Await.until("taken", () -> master.statistics().headerCount() == 6);
            master.requestStop();
            DartTicket refused = client.sendCopy(DartWorld.bytes(100, 6), 0, 100, null, 6);
            assertThatThrownBy(() -> refused.await(TicketState.STREAMED, DartWorld.LIMIT_NS))
                    .satisfies(e -> isFailure(e, DartException.Code.SERVER_STOPPING));
            go.countDown();
            for (DartTicket ticket : accepted) {
                ticket.await(TicketState.STREAMED, DartWorld.LIMIT_NS);
            }
            assertThat(master.awaitStopped(DartWorld.LIMIT_NS)).isTrue();
            assertThat(world.receiver.awaitFinished(1, DartWorld.LIMIT_NS)).isTrue();
            assertThat(master.lostMessages()).isEmpty();
            assertThat(world.received).extracting(DartWorld.Received::tag).hasSize(6);
            Await.until(
                    "the process is told",
                    () -> {
                        client.progress();
                        return !client.isConnected();
                    });
            assertThatThrownBy(() -> client.sendCopy(DartWorld.bytes(1, 1), 0, 1, null, 7))
                    .satisfies(e -> isFailure(e, DartException.Code.SERVER_STOPPING));
            world.clients.clear();
            client.close(0);
        } finally {
            go.countDown();
        }
    }

    @Test
    void shouldNameEveryLostMessageWhenStoppedAtOnce() throws Exception {
        CountDownLatch go = new CountDownLatch(1);
        try (DartWorld world = world().receive()) {
            world.onMessage = () -> awaitUninterrupted(go);
            DartServer master = world.master(c -> c.bufferCount(3));
            DartClient client = world.client(0, c -> c.maxInFlight(8));
            for (int i = 0; i < 8; i++) {
                DartMetadata metadata = new DartMetadata().name("out-" + i);
                client.sendCopy(DartWorld.bytes(60_000, i), 0, 60_000, metadata, i);
            }
            Await.until("no buffer is empty", () -> master.statistics().emptyCount() == 0);
            Await.until("all headers", () -> master.statistics().headerCount() == 8);
            master.requestStop();
            assertThat(master.awaitStopped(SHORT_NS)).isFalse();
            master.stopNow();
            assertThat(master.awaitStopped(DartWorld.LIMIT_NS)).isTrue();
            master.close();
            List<DartServer.LostMessage> lost = master.lostMessages();
            assertThat(lost)
                    .extracting(DartServer.LostMessage::sequence)
                    .containsExactlyInAnyOrder(1L, 2L, 3L, 4L, 5L, 6L, 7L, 8L);
            assertThat(lost).allMatch(m -> m.clientId() == client.clientId());
            for (DartServer.LostMessage message : lost) {
                String name =
                        "'out-"
                                + (message.sequence() - 1)
                                + "' (message "
                                + message.sequence()
                                + " of client "
                                + message.clientId();
                assertThat(world.errors).anyMatch(e -> e.getMessage().contains(name));
            }
            Await.until(
                    "the process is told",
                    () -> {
                        client.progress();
                        return client.unconfirmed().isEmpty();
                    });
            world.clients.clear();
            assertThatThrownBy(() -> client.close(0)).hasMessageContaining("8 messages");
            go.countDown();
        } finally {
            go.countDown();
        }
    }

    @Test
    void shouldStopAllServersWhenAProcessAsksAndThatIsAllowed() throws Exception {
        try (DartWorld world = world().receive()) {
            List<DartServer> servers = new ArrayList<>();
            servers.add(world.master(c -> c.serverCount(3).stoppableByClients(true)));
            servers.add(world.slave(c -> c.stoppableByClients(true)));
            servers.add(world.slave(c -> c.stoppableByClients(false)));
            List<DartClient> clients = new ArrayList<>();
            for (int rank = 0; rank < 3; rank++) {
                DartClient client = world.client(rank, c -> c.maxInFlight(4));
                clients.add(client);
                for (int i = 0; i < 4; i++) {
                    client.sendCopy(DartWorld.bytes(1000, i), 0, 1000, null, i);
                }
                client.flush(DartWorld.LIMIT_NS);
            }
            DartClient notAllowed = ofServer(clients, servers.get(2).serverId());
            assertThatThrownBy(notAllowed::stopServers)
                    .hasMessageContaining("does not let processes stop it")
                    .satisfies(e -> isFailure(e, DartException.Code.COMMAND_FAILED));
            assertThat(servers).allMatch(DartServer::isReady);
            ofServer(clients, servers.get(1).serverId()).stopServers();
            for (DartServer server : servers) {
                assertThat(server.awaitStopped(DartWorld.LIMIT_NS)).isTrue();
                assertThat(server.lostMessages()).isEmpty();
            }
            assertThat(world.receiver.awaitFinished(3, DartWorld.LIMIT_NS)).isTrue();
            assertThat(world.received).hasSize(12);
            world.clients.clear();
            clients.forEach(c -> c.close(0));
        }
    }

    @Test
    void shouldStopAllServersAtOnceWhenAProcessAsksForThat() throws Exception {
        try (DartWorld world = world().receive()) {
            List<DartServer> servers = new ArrayList<>();
            servers.add(world.master(c -> c.serverCount(2).stoppableByClients(true)));
            servers.add(world.slave(c -> c.stoppableByClients(true)));
            servers.get(1).awaitReady(DartWorld.LIMIT_NS);
            // Nobody acknowledges any more: in order they would wait for that.
            CountDownLatch go = new CountDownLatch(1);
            world.onMessage = () -> awaitQuietly(go);
            try {
                List<DartClient> clients = List.of(world.client(0), world.client(1));
                for (DartClient client : clients) {
                    client.sendCopy(DartWorld.bytes(1000, 1), 0, 1000, null, 1);
                }
                try {
                    ofServer(clients, 1).stopServersNow();
                } catch (DartException e) {
                    // It was faster with its end than with its answer.
                }
                for (DartServer server : servers) {
                    assertThat(server.awaitStopped(DartWorld.LIMIT_NS)).isTrue();
                }
            } finally {
                go.countDown();
                world.clients.forEach(client -> endQuietly(client));
                world.clients.clear();
            }
        }
    }

    @Test
    void shouldStopAtOnceWhenAskedToWhileItDelivers() throws Exception {
        CountDownLatch go = new CountDownLatch(1);
        try (DartWorld world = world().receive()) {
            world.onMessage = () -> awaitQuietly(go);
            List<DartServer> servers = new ArrayList<>();
            servers.add(world.master(c -> c.serverCount(2).stoppableByClients(true)));
            servers.add(world.slave(c -> c.stoppableByClients(true)));
            servers.get(1).awaitReady(DartWorld.LIMIT_NS);
            try {
                List<DartClient> clients = List.of(world.client(0), world.client(1));
                for (DartClient client : clients) {
                    client.sendCopy(DartWorld.bytes(1000, 1), 0, 1000, null, 1);
                }
                for (DartServer server : servers) {
                    Await.until("taken", () -> server.statistics().headerCount() == 1);
                }
                ofServer(clients, 0).stopServers();
                // Nobody acknowledges: they would deliver for ever.
                Await.until("stopping", () -> servers.stream().noneMatch(DartServer::isReady));
                // It is tried again until then; a busy machine may not even be asked in time.
                long[] timeoutNs = {5 * SHORT_NS};
                Await.until(
                        "refused",
                        () -> {
                            timeoutNs[0] *= 2;
                            DartException e =
                                    catchThrowableOfType(
                                            DartException.class,
                                            () ->
                                                    world.client(
                                                            2, c -> c.bootTimeoutNs(timeoutNs[0])));
                            return e.code() == DartException.Code.SERVER_STOPPING;
                        });
                DartClient operator =
                        world.client(0, c -> c.applicationId(RegisterFlyweight.APPLICATION_MAX));
                try {
                    operator.stopServersNow();
                } catch (DartException e) {
                    // It was faster with its end than with its answer.
                }
                for (DartServer server : servers) {
                    assertThat(server.awaitStopped(DartWorld.LIMIT_NS)).isTrue();
                    server.close();
                    assertThat(server.lostMessages()).hasSize(1);
                }
            } finally {
                go.countDown();
                world.clients.forEach(client -> endQuietly(client));
                world.clients.clear();
            }
        }
    }

    @Test
    void shouldGoOnWhenTheMasterThatRefusedToStopEnds() throws Exception {
        try (DartWorld world = world().receive()) {
            DartServer master = world.master(c -> c.serverCount(2));
            DartServer slave = world.slave(c -> c.stoppableByClients(true));
            List<DartClient> clients = List.of(world.client(0), world.client(1));
            DartClient asking = ofServer(clients, 1);
            asking.stopServers();
            Await.until(
                    () -> "refused: " + world.errors,
                    () ->
                            world.errors.stream()
                                    .anyMatch(e -> e.getMessage().contains("stoppableByClients")));
            DartClient other = ofServer(clients, 0);
            world.clients.remove(other);
            other.close();
            master.close();
            assertThatThrownBy(() -> slave.barrier(DartWorld.LIMIT_NS))
                    .hasMessageContaining("the master is gone");
            DartTicket ticket = asking.sendCopy(DartWorld.bytes(1000, 1), 0, 1000, null, 1);
            ticket.await(TicketState.STREAMED, DartWorld.LIMIT_NS);
            assertThat(slave.isReady()).isTrue();
            // There is no master any more that could refuse.
            asking.stopServers();
            assertThat(slave.awaitStopped(DartWorld.LIMIT_NS)).isTrue();
            world.clients.clear();
            asking.close(0);
        }
    }

    private static void endQuietly(DartClient client) {
        try {
            client.close(0);
        } catch (DartException e) {
            // Its messages are lost, which is what was asked for.
        }
    }

    private static void awaitQuietly(CountDownLatch go) {
        try {
            go.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static DartClient ofServer(List<DartClient> clients, int serverId) {
        return clients.stream().filter(c -> c.serverId() == serverId).findFirst().orElseThrow();
    }
}
