package dev.verbena.dart;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.agent.Await;
import dev.verbena.memory.RegisteredRegion;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Clients of servers that are stopped or killed go on at others, in order and once each. */
@Timeout(value = 300, unit = TimeUnit.SECONDS)
abstract class DartReassignContract {
    /** Five seconds, or two for {@code close}, on a machine that has nothing else to do. */
    static final long SOON_NS = 60_000_000_000L;

    /** URI scheme of the provider. */
    protected abstract String scheme();

    static boolean isOfCode(Throwable e, DartException.Code code) {
        return e instanceof DartException && ((DartException) e).code() == code;
    }

    static void sendUntilLost(DartClient client) {
        UnsafeBuffer data = DartWorld.bytes(100, 1);
        while (true) {
            DartTicket ticket = client.sendCopy(data, 0, 100, null, 0);
            ticket.await(TicketState.STREAMED, DartWorld.LIMIT_NS);
        }
    }

    static void awaitUninterrupted(CountDownLatch latch) {
        try {
            latch.await(30, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    static void closeCarelessly(DartClient client) {
        try {
            client.close(0);
        } catch (DartException e) {
            assertThat(e.code()).isEqualTo(DartException.Code.UNCONFIRMED);
        }
    }

    @Test
    @Tag("dart-D46")
    void shouldMoveClientsOfAKilledSlaveAndDuplicateNothing() throws Exception {
        try (DartWorld world = new DartWorld(scheme()).receive()) {
            moveTwice(world);
        }
    }

    @Test
    @Tag("dart-D46")
    void shouldMoveClientsOfAKilledSlaveWhereMessagesAreStored() throws Exception {
        try (DartWorld world = new DartWorld(scheme())) {
            Path out = world.directory.resolve("out");
            world.receive(world.receiverContext().directory(out.toString()));
            moveTwice(world);
            try (var files = Files.list(out)) {
                List<String> names =
                        files.map(f -> f.getFileName().toString())
                                .filter(n -> n.startsWith("c"))
                                .toList();
                assertThat(names).hasSize(4 * 120);
            }
        }
    }

    /** Four clients send while one slave after the other is killed. */
    private void moveTwice(DartWorld world) throws Exception {
        int count = 120;
        world.master(c -> c.serverCount(3));
        try (DartNode one = DartNode.start(world, "slave");
                DartNode two = DartNode.start(world, "slave")) {
            one.await("ready");
            two.await("ready");
            List<DartClient> clients = new ArrayList<>();
            for (int rank = 0; rank < 4; rank++) {
                clients.add(world.client(rank, c -> c.reassign(true).maxInFlight(4)));
            }
            List<RegisteredRegion> regions = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                if (i == count / 3) {
                    one.kill();
                } else if (i == 2 * count / 3) {
                    two.kill();
                }
                for (DartClient client : clients) {
                    sendOne(client, i, regions);
                }
            }
            for (DartClient client : clients) {
                client.flush(DartWorld.LIMIT_NS);
                assertThat(client.statistics().failedCount()).isZero();
                assertThat(client.serverId()).isZero();
            }
            world.awaitReceived(4 * count);
            compare(world, clients, count);
        }
        DartNode.sweep(world);
    }

    private static void sendOne(DartClient client, int i, List<RegisteredRegion> regions) {
        int length = i % 7 == 0 ? 200_000 : i * 37 % 5000;
        UnsafeBuffer data = DartWorld.bytes(length, i);
        DartMetadata metadata = new DartMetadata().name("c" + client.clientId() + "-" + i).step(i);
        if (i % 2 == 0) {
            client.sendCopy(data, 0, length, metadata, i);
        } else {
            RegisteredRegion region = client.allocate(Math.max(1, length));
            region.buffer(0, Math.max(1, length)).putBytes(0, data, 0, length);
            client.send(region, 0, length, metadata, i);
            regions.add(region);
        }
    }

    private static void compare(DartWorld world, List<DartClient> clients, int count) {
        for (DartClient client : clients) {
            List<DartWorld.Received> own =
                    world.received.stream().filter(m -> m.clientId() == client.clientId()).toList();
            assertThat(own)
                    .extracting(DartWorld.Received::tag)
                    .containsExactlyElementsOf(
                            java.util.stream.IntStream.range(0, count).boxed().toList());
            for (DartWorld.Received message : own) {
                int length = message.tag() % 7 == 0 ? 200_000 : message.tag() * 37 % 5000;
                assertThat(
                                java.util.Arrays.equals(
                                        message.payload(),
                                        DartWorld.bytes(length, message.tag()).byteArray()))
                        .isTrue();
            }
        }
    }

    @Test
    @Tag("dart-D46")
    void shouldSendAgainWhatItsServerHadAndTheReceiverHadNot() throws Exception {
        int count = 12;
        CountDownLatch go = new CountDownLatch(1);
        try (DartWorld world = new DartWorld(scheme())) {
            // The window is smaller than what is sent: the rest is only in the slave's buffers.
            world.receive(world.receiverContext().windowMax(1 << 20));
            world.onMessage = () -> awaitUninterrupted(go);
            world.master(c -> c.serverCount(2).bufferCount(64));
            try (DartNode slave = DartNode.start(world, "slave", "buffers=64")) {
                slave.await("ready");
                DartClient first = world.client(0, c -> c.reassign(true));
                DartClient second = world.client(1, c -> c.reassign(true));
                DartClient client = first.serverId() == 1 ? first : second;
                UnsafeBuffer data = DartWorld.bytes(200_000, 1);
                List<DartTicket> tickets = new ArrayList<>();
                for (int i = 0; i < count; i++) {
                    tickets.add(client.sendCopy(data, 0, 200_000, null, i));
                }
                Await.until("the slave has all", () -> !client.wouldBlock());
                slave.kill();
                go.countDown();
                client.flush(DartWorld.LIMIT_NS);
                assertThat(tickets).allMatch(t -> t.state() == TicketState.STREAMED);
            } finally {
                go.countDown();
            }
            assertThat(world.received)
                    .extracting(DartWorld.Received::tag)
                    .containsExactlyElementsOf(
                            java.util.stream.IntStream.range(0, count).boxed().toList());
            DartNode.sweep(world);
        }
    }

    @Test
    @Tag("dart-D46")
    void shouldMoveClientsOfASlaveThatIsStoppedInOrder() throws Exception {
        try (DartWorld world = new DartWorld(scheme()).receive()) {
            world.master(c -> c.serverCount(2));
            try (DartNode slave = DartNode.start(world, "slave")) {
                slave.await("ready");
                List<DartClient> clients = new ArrayList<>();
                for (int rank = 0; rank < 2; rank++) {
                    clients.add(world.client(rank, c -> c.reassign(true).maxInFlight(4)));
                }
                List<RegisteredRegion> regions = new ArrayList<>();
                for (int i = 0; i < 60; i++) {
                    if (i == 20) {
                        slave.endInput();
                    }
                    for (DartClient client : clients) {
                        sendOne(client, i, regions);
                    }
                }
                assertThat(slave.await("stopped")).isEqualTo("true");
                for (DartClient client : clients) {
                    client.flush(DartWorld.LIMIT_NS);
                    assertThat(client.statistics().failedCount()).isZero();
                }
                compare(world, clients, 60);
            }
            DartNode.sweep(world);
        }
    }

    @Test
    @Tag("dart-D46")
    void shouldKeepLookingForAServerWhileTheReceiverIsGone() throws Exception {
        try (DartWorld world = new DartWorld(scheme()).receive()) {
            world.master(c -> c.serverCount(2));
            try (DartNode slave = DartNode.start(world, "slave")) {
                slave.await("ready");
                DartClient first = world.client(0, c -> c.reassign(true));
                DartClient second = world.client(1, c -> c.reassign(true));
                DartClient client = first.serverId() == 1 ? first : second;
                client.sendCopy(DartWorld.bytes(10, 1), 0, 10, null, 1);
                client.flush(DartWorld.LIMIT_NS);
                world.receiver.close();
                client.sendCopy(DartWorld.bytes(10, 1), 0, 10, null, 2);
                Await.until(
                        "the master misses the receiver: " + world.errors,
                        () ->
                                world.errors.stream()
                                        .anyMatch(e -> e.getMessage().startsWith("receiver ")));
                slave.kill();
                long start = System.nanoTime();
                Await.until(
                        "a while",
                        () -> {
                            client.progress();
                            return System.nanoTime() - start > 1_000_000_000L;
                        });
                assertThat(client.unconfirmed()).hasSize(1);
                world.receive(world.receiverContext());
                client.flush(DartWorld.LIMIT_NS);
                assertThat(world.received)
                        .extracting(DartWorld.Received::tag)
                        .containsExactly(1, 2);
            }
            DartNode.sweep(world);
        }
    }

    @Test
    @Tag("dart-D46")
    void shouldSendACommandToTheServerToWhichItMoves() throws Exception {
        try (DartWorld world = new DartWorld(scheme()).receive()) {
            world.master(c -> c.serverCount(2).commandHandler(1, (command, reply) -> 5));
            try (DartNode slave = DartNode.start(world, "slave")) {
                slave.await("ready");
                DartClient first = world.client(0, c -> c.reassign(true));
                DartClient second = world.client(1, c -> c.reassign(true));
                DartClient client = first.serverId() == 1 ? first : second;
                slave.kill();
                String moving = "the master is asked for another";
                Await.until(
                        () -> "moving: " + world.errors,
                        () -> client.progress() >= 0 && world.errors.toString().contains(moving));
                assertThat(client.command(1)).hasSize(5);
                assertThat(client.serverId()).isZero();
            }
            DartNode.sweep(world);
        }
    }

    @Test
    @Tag("dart-D15")
    void shouldCompleteWhenASlavePullsForTheMaster() throws Exception {
        try (DartWorld world = new DartWorld(scheme()).receive()) {
            DartServer master = world.master(c -> c.serverCount(2).delegate(true));
            DartServer slave = world.slave();
            List<DartClient> clients = new ArrayList<>();
            for (int rank = 0; rank < 4; rank++) {
                clients.add(world.client(rank, c -> c.maxInFlight(4).checksum(true)));
            }
            assertThat(clients).extracting(DartClient::serverId).contains(0, 1);
            List<RegisteredRegion> regions = new ArrayList<>();
            for (int i = 0; i < 60; i++) {
                for (DartClient client : clients) {
                    sendOne(client, i, regions);
                }
            }
            for (DartClient client : clients) {
                client.flush(DartWorld.LIMIT_NS);
            }
            compare(world, clients, 60);
            assertThat(master.statistics().headerCount()).isEqualTo(2 * 60);
            assertThat(master.statistics().pulledBytes()).isZero();
            assertThat(slave.statistics().transferredCount()).isEqualTo(4 * 60);
            // One that registers again goes on behind its numbers at both servers.
            DartClient first = clients.get(0);
            int id = first.clientId();
            first.close();
            world.clients.remove(first);
            DartClient again = world.client(0);
            assertThat(again.clientId()).isEqualTo(id);
            again.sendCopy(DartWorld.bytes(10, 1), 0, 10, null, 1000)
                    .await(TicketState.STREAMED, DartWorld.LIMIT_NS);
            // Stopping the master waits for what the slave has of it.
            DartTicket last = again.sendCopy(DartWorld.bytes(10, 1), 0, 10, null, 1001);
            Await.until("taken", () -> master.statistics().headerCount() == 2 * 60 + 2);
            master.requestStop();
            assertThat(master.awaitStopped(DartWorld.LIMIT_NS)).isTrue();
            last.await(TicketState.STREAMED, DartWorld.LIMIT_NS);
            world.awaitReceived(4 * 60 + 2);
            for (DartClient client : world.clients) {
                client.close();
            }
            world.clients.clear();
        }
    }

    @Test
    @Tag("dart-D15")
    @Tag("dart-D46")
    void shouldFailOverWhenTheServerThatPullsIsKilled() throws Exception {
        try (DartWorld world = new DartWorld(scheme()).receive()) {
            world.master(c -> c.serverCount(2).delegate(true));
            try (DartNode slave = DartNode.start(world, "slave")) {
                slave.await("ready");
                DartClient moving = world.client(0, c -> c.reassign(true));
                DartClient ofSlave = world.client(1, c -> c.reassign(true));
                DartClient failing = world.client(2);
                assertThat(moving.serverId()).isZero();
                assertThat(failing.serverId()).isZero();
                List<RegisteredRegion> regions = new ArrayList<>();
                for (int i = 0; i < 40; i++) {
                    if (i == 20) {
                        failing.sendCopy(DartWorld.bytes(10, 1), 0, 10, null, 5000)
                                .await(TicketState.STREAMED, DartWorld.LIMIT_NS);
                        slave.kill();
                    }
                    sendOne(moving, i, regions);
                    sendOne(ofSlave, i, regions);
                }
                long start = System.nanoTime();
                assertThatThrownBy(() -> sendUntilLost(failing))
                        .matches(e -> isOfCode(e, DartException.Code.SERVER_UNREACHABLE));
                assertThat(System.nanoTime() - start).isLessThan(SOON_NS);
                moving.flush(DartWorld.LIMIT_NS);
                ofSlave.flush(DartWorld.LIMIT_NS);
                compare(world, List.of(moving, ofSlave), 40);
                world.clients.remove(failing);
                closeCarelessly(failing);
            }
            DartNode.sweep(world);
        }
    }
}
