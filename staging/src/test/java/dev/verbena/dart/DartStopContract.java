package dev.verbena.dart;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.verbena.agent.Await;
import dev.verbena.dart.wire.RegisterFlyweight;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** How servers stop: in order or at once, and all of them when a process asks. */
@Timeout(value = 120, unit = TimeUnit.SECONDS)
abstract class DartStopContract {
    static final long SHORT_NS = 300_000_000L;

    /** URI scheme of the provider. */
    protected abstract String scheme();

    DartWorld world() {
        return new DartWorld(scheme());
    }

    static void isFailure(Throwable e, DartException.Code code) {
        assertThat(((DartException) e).code()).isEqualTo(code);
    }

    static void awaitUninterrupted(CountDownLatch latch) {
        try {
            latch.await(30, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
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
                    "the process has the message",
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

    /** While the process computes: it has not been here since. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldNotTakeACommandForSentWhenTheServerHasStoppedBefore(boolean isReassigned)
            throws Exception {
        try (DartWorld world = world().receive()) {
            world.master(c -> c.serverCount(2).commandHandler(7, (command, reply) -> 3));
            DartServer slave = world.slave(c -> c.commandHandler(7, (command, reply) -> 3));
            DartClient client = null;
            for (int rank = 0; client == null || client.serverId() != slave.serverId(); rank++) {
                client = world.client(rank, c -> c.reassign(isReassigned));
            }
            DartClient computing = client;
            assertThat(computing.command(7)).hasSize(3);
            slave.close();
            if (isReassigned) {
                assertThat(computing.command(7)).hasSize(3);
            } else {
                assertThatThrownBy(() -> computing.command(7))
                        .satisfies(e -> isFailure(e, DartException.Code.SERVER_STOPPING));
            }
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
                    "the process has the message",
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
                // Nobody acknowledges: they would deliver without end.
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
