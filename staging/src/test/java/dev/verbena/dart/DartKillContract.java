package dev.verbena.dart;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.agent.Await;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * DART when processes are killed: clients, slaves and masters are processes of their own and get
 * {@code kill -9}; one small subclass for each provider names the scheme.
 */
@Timeout(value = 300, unit = TimeUnit.SECONDS)
public abstract class DartKillContract extends DartReassignContract {
    /** For subclasses in other modules. */
    protected DartKillContract() {}

    @Test
    @Tag("dart-D45")
    void shouldGoOnWhenAClientIsKilledBetweenHeaderAndPull() throws Exception {
        try (DartWorld world = new DartWorld(scheme()).receive()) {
            CountDownLatch go = new CountDownLatch(1);
            world.onMessage = () -> awaitUninterrupted(go);
            DartServer master = world.master(c -> c.bufferCount(3).clientsMax(2));
            DartClient other = world.client(0, c -> c.maxInFlight(8));
            // The receiver stands still, so that these fill every buffer and the next ones wait.
            for (int i = 0; i < 8; i++) {
                other.sendCopy(DartWorld.bytes(5000, i), 0, 5000, null, i);
            }
            Await.until("no buffer is empty", () -> master.statistics().emptyCount() == 0);
            try (DartNode victim = DartNode.start(world, "client", "rank=1", "count=3")) {
                int id = Integer.parseInt(victim.await("sent"));
                int parked = 5 + 3;
                Await.until(
                        () -> "headers wait " + master.statistics(),
                        () -> master.statistics().parkedHeaderCount() == parked);
                victim.kill();
                long start = System.nanoTime();
                Await.until("noticed", () -> master.statistics().lostClientCount() == 1);
                assertThat(System.nanoTime() - start).isLessThan(SOON_NS);
                go.countDown();
                other.flush(DartWorld.LIMIT_NS);
                Await.until(
                        () -> "dropped messages are named: " + world.errors,
                        () -> namesDropped(world, id));
            } finally {
                go.countDown();
            }
            assertThat(world.received).extracting(DartWorld.Received::tag).hasSize(8);
            assertThat(master.clientCount()).isEqualTo(1);
            // There are two slots: the freed one is taken by somebody else, as soon as the receiver
            // knows of the loss.
            DartClient next = world.client(2);
            next.sendCopy(DartWorld.bytes(10, 1), 0, 10, null, 77);
            other.sendCopy(DartWorld.bytes(10, 1), 0, 10, null, 78);
            world.awaitReceived(10);
            Await.until("buffers are back", () -> master.statistics().emptyCount() == 3);
            DartNode.sweep(world);
        }
    }

    private static boolean namesDropped(DartWorld world, int clientId) {
        for (int sequence = 1; sequence <= 3; sequence++) {
            String wanted = "message " + sequence + " of client " + clientId + " ";
            if (world.errors.stream().noneMatch(e -> e.getMessage().startsWith(wanted))) {
                return false;
            }
        }
        return true;
    }

    @Test
    @Tag("dart-D46")
    void shouldFailTheClientsOfAKilledSlaveAtOnceAndNoOthers() throws Exception {
        try (DartWorld world = new DartWorld(scheme()).receive()) {
            world.master(c -> c.serverCount(2));
            try (DartNode slave = DartNode.start(world, "slave")) {
                slave.await("ready");
                DartClient first = world.client(0);
                DartClient second = world.client(1);
                DartClient ofSlave = first.serverId() == 1 ? first : second;
                DartClient ofMaster = first.serverId() == 1 ? second : first;
                ofSlave.sendCopy(DartWorld.bytes(10, 1), 0, 10, null, 5)
                        .await(TicketState.STREAMED, DartWorld.LIMIT_NS);
                slave.kill();
                long start = System.nanoTime();
                assertThatThrownBy(() -> sendUntilLost(ofSlave))
                        .matches(e -> isOfCode(e, DartException.Code.SERVER_UNREACHABLE));
                assertThat(System.nanoTime() - start).isLessThan(SOON_NS);
                assertThat(ofSlave.isConnected()).isFalse();
                world.clients.remove(ofSlave);
                closeCarelessly(ofSlave);
                ofMaster.sendCopy(DartWorld.bytes(10, 1), 0, 10, null, 6)
                        .await(TicketState.STREAMED, DartWorld.LIMIT_NS);
            }
            DartNode.sweep(world);
        }
    }

    @Test
    @Tag("dart-D46")
    void shouldNoticeAServerThatIsStopped() throws Exception {
        try (DartWorld world = new DartWorld(scheme()).receive()) {
            world.master(c -> c.serverCount(2));
            try (DartNode slave = DartNode.start(world, "slave")) {
                slave.await("ready");
                DartClient first = world.client(0);
                DartClient second = world.client(1);
                DartClient ofSlave = first.serverId() == 1 ? first : second;
                slave.signal("STOP");
                long start = System.nanoTime();
                assertThatThrownBy(() -> sendUntilLost(ofSlave))
                        .matches(e -> isOfCode(e, DartException.Code.SERVER_UNREACHABLE));
                assertThat(System.nanoTime() - start).isLessThan(SOON_NS);
                world.clients.remove(ofSlave);
                closeCarelessly(ofSlave);
            }
            DartNode.sweep(world);
        }
    }

    @Test
    @Tag("dart-D46")
    void shouldKeepARestartedProcessApartWhenItsServerIsGoneToo() throws Exception {
        try (DartWorld world = new DartWorld(scheme()).receive()) {
            world.master(c -> c.serverCount(2));
            try (DartNode slave = DartNode.start(world, "slave")) {
                slave.await("ready");
                DartClient first = world.client(0);
                DartClient second = world.client(1);
                DartClient ofSlave = first.serverId() == 1 ? first : second;
                int rank = ofSlave == first ? 0 : 1;
                for (int i = 0; i < 5; i++) {
                    ofSlave.sendCopy(DartWorld.bytes(10, i), 0, 10, null, i);
                }
                ofSlave.flush(DartWorld.LIMIT_NS);
                slave.kill();
                world.clients.remove(ofSlave);
                closeCarelessly(ofSlave);
                Await.until(
                        () -> "the master knows: " + world.errors,
                        () ->
                                world.errors.stream()
                                        .anyMatch(e -> e.getMessage().contains("slave server 1")));
                DartClient again = world.client(rank);
                assertThat(again.clientId()).isEqualTo(ofSlave.clientId());
                // Were it numbered from 1 again, the receiver would take it for what it has.
                again.sendCopy(DartWorld.bytes(10, 9), 0, 10, null, 9)
                        .await(TicketState.STREAMED, DartWorld.LIMIT_NS);
                world.awaitReceived(6);
                assertThat(world.received.get(5).tag()).isEqualTo(9);
            }
            DartNode.sweep(world);
        }
    }

    @ParameterizedTest
    @CsvSource({"KILL,false", "KILL,true", "STOP,false", "STOP,true"})
    @Tag("dart-D43")
    void shouldCloseInTimeAndListWhatIsNotConfirmedWhenTheServerIsDead(
            String signal, boolean isReassigned) throws Exception {
        try (DartWorld world = new DartWorld(scheme()).receive();
                DartNode master = DartNode.start(world, "master")) {
            master.await("ready");
            DartClient client = world.client(0, c -> c.reassign(isReassigned).maxInFlight(4));
            client.sendCopy(DartWorld.bytes(10, 1), 0, 10, null, 1);
            client.flush(DartWorld.LIMIT_NS);
            master.signal(signal);
            for (int i = 2; i <= 4; i++) {
                client.sendCopy(DartWorld.bytes(10, 1), 0, 10, null, i);
            }
            world.clients.clear();
            long timeoutNs = 1_000_000_000L;
            long start = System.nanoTime();
            assertThatThrownBy(() -> client.close(timeoutNs))
                    .matches(e -> isOfCode(e, DartException.Code.UNCONFIRMED))
                    .hasMessageContaining("3 messages")
                    .hasMessageContaining("message 2")
                    .hasMessageContaining("message 3")
                    .hasMessageContaining("message 4");
            assertThat(System.nanoTime() - start).isLessThan(SOON_NS);
            DartNode.sweep(world);
        }
    }

    @Test
    @Tag("dart-D47")
    void shouldGoOnThroughSlavesWhenTheMasterIsKilledAndRefuseOldIdsAfter() throws Exception {
        String uuid = new UUID(47, 47).toString();
        try (DartWorld world = new DartWorld(scheme()).receive();
                DartNode master = DartNode.start(world, "master", "servers=2", "uuid=" + uuid)) {
            try (DartNode slave = DartNode.start(world, "slave")) {
                master.await("ready");
                slave.await("ready");
                DartClient first =
                        world.client(0, c -> c.reassign(true).bootTimeoutNs(3 * 1_000_000_000L));
                DartClient second =
                        world.client(1, c -> c.reassign(true).bootTimeoutNs(3 * 1_000_000_000L));
                DartClient ofSlave = first.serverId() == 1 ? first : second;
                DartClient ofMaster = first.serverId() == 1 ? second : first;
                ofSlave.sendCopy(DartWorld.bytes(10, 1), 0, 10, null, 1);
                master.kill();
                for (int i = 2; i <= 50; i++) {
                    ofSlave.sendCopy(DartWorld.bytes(1000, i), 0, 1000, null, i);
                }
                ofSlave.flush(DartWorld.LIMIT_NS);
                assertThat(ofSlave.statistics().failedCount()).isZero();
                assertThatThrownBy(() -> world.client(2, c -> c.bootTimeoutNs(500_000_000L)))
                        .matches(e -> isOfCode(e, DartException.Code.SERVER_UNREACHABLE))
                        .hasMessageContaining("dart.conf");
                try (DartNode again = DartNode.start(world, "master", "uuid=" + uuid)) {
                    again.await("ready");
                    // The client of the killed master asks the new one to go on.
                    assertThatThrownBy(() -> sendUntilLost(ofMaster))
                            .matches(e -> isOfCode(e, DartException.Code.SERVER_UNREACHABLE))
                            .hasMessageContaining("anew");
                    DartClient fresh = world.client(3);
                    fresh.sendCopy(DartWorld.bytes(10, 1), 0, 10, null, 99)
                            .await(TicketState.STREAMED, DartWorld.LIMIT_NS);
                    // Its id and number were used before the restart: that was another run.
                    assertThat(world.received).extracting(DartWorld.Received::tag).contains(99);
                    world.clients.remove(ofMaster);
                    closeCarelessly(ofMaster);
                    ofSlave.sendCopy(DartWorld.bytes(10, 1), 0, 10, null, 51)
                            .await(TicketState.STREAMED, DartWorld.LIMIT_NS);
                    for (DartClient client : List.copyOf(world.clients)) {
                        client.close();
                    }
                    world.clients.clear();
                }
            }
            assertThat(world.received)
                    .extracting(DartWorld.Received::tag)
                    .filteredOn(tag -> tag <= 51)
                    .containsExactlyElementsOf(
                            java.util.stream.IntStream.rangeClosed(1, 51).boxed().toList());
            DartNode.sweep(world);
        }
    }

    @Test
    @Tag("dart-D46")
    void shouldFailSoonWhenTheMasterIsKilledAndNobodyElseCanNameAServer() throws Exception {
        long bootTimeoutNs = 120 * 1_000_000_000L;
        try (DartWorld world = new DartWorld(scheme()).receive();
                DartNode master = DartNode.start(world, "master")) {
            master.await("ready");
            DartClient client = world.client(0, c -> c.reassign(true).bootTimeoutNs(bootTimeoutNs));
            DartTicket first = client.sendCopy(DartWorld.bytes(10, 1), 0, 10, null, 1);
            first.await(TicketState.STREAMED, DartWorld.LIMIT_NS);
            master.kill();
            long start = System.nanoTime();
            assertThatThrownBy(() -> sendUntilLost(client))
                    .matches(e -> isOfCode(e, DartException.Code.SERVER_UNREACHABLE))
                    .hasMessageContaining("has ended")
                    .hasMessageContaining("dart.conf")
                    .hasMessageContaining("anew");
            assertThat(System.nanoTime() - start).isLessThan(SOON_NS);
            world.clients.remove(client);
            closeCarelessly(client);
            DartNode.sweep(world);
        }
    }

    @Test
    @Tag("dart-D48")
    void shouldLetOneOfSeveralMastersOnAFileWin() throws Exception {
        try (DartWorld world = new DartWorld(scheme()).receive()) {
            List<DartNode> nodes = new ArrayList<>();
            try {
                for (int i = 0; i < 3; i++) {
                    nodes.add(DartNode.start(world, "master"));
                }
                List<DartNode> winners = new ArrayList<>();
                for (DartNode node : nodes) {
                    String says = node.awaitAny("ready", "failed");
                    if (says.startsWith("ready")) {
                        winners.add(node);
                    } else {
                        assertThat(says).contains("NOT_BOOTSTRAPPED").contains("another master");
                    }
                }
                assertThat(winners).hasSize(1);
                DartClient client = world.client(0);
                client.sendCopy(DartWorld.bytes(10, 1), 0, 10, null, 1);
                client.close();
                world.clients.clear();
                // The claim ends with the process, however that ends.
                winners.get(0).kill();
                DartNode next = DartNode.start(world, "master");
                nodes.add(next);
                next.await("ready");
                world.client(0).sendCopy(DartWorld.bytes(10, 1), 0, 10, null, 2);
                world.clients.remove(0).close();
            } finally {
                for (DartNode node : nodes) {
                    node.close();
                }
            }
            DartNode.sweep(world);
        }
    }
}
