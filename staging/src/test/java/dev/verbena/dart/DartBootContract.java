package dev.verbena.dart;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.verbena.agent.Await;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * How clients and slaves find the master and register, and what they are told where they cannot.
 */
@Timeout(value = 400, unit = TimeUnit.SECONDS)
abstract class DartBootContract {
    private static final long SHORT_NS = 300_000_000L;

    /** Long enough for the master's answer on a machine that has other things to do. */
    private static final long ANSWERED_NS = 1_000_000_000L;

    /** URI scheme of the provider. */
    protected abstract String scheme();

    /** How many clients at most are served in turn; fewer where connecting one takes long. */
    protected int inTurnMax() {
        return 128;
    }

    DartWorld world() {
        return new DartWorld(scheme());
    }

    // ---- bootstrap

    @ParameterizedTest
    @CsvSource({"0,1", "0,2", "1,1", "1,2", "3,1", "3,2", "0,128", "1,128", "3,128"})
    @Tag("dart-D1")
    @Tag("dart-D7")
    void shouldServeClientsInTurn(int slaveCount, int clients) throws Exception {
        int clientCount = Math.min(clients, inTurnMax());
        try (DartWorld world = world().receive()) {
            world.master(c -> c.serverCount(slaveCount + 1));
            for (int i = 0; i < slaveCount; i++) {
                world.slave();
            }
            Map<Integer, Integer> perServer = new TreeMap<>();
            Set<Integer> ids = new HashSet<>();
            for (int rank = 0; rank < clientCount; rank++) {
                DartClient client = world.client(rank);
                perServer.merge(client.serverId(), 1, Integer::sum);
                ids.add(client.clientId());
                client.sendCopy(DartWorld.bytes(100, rank), 0, 100, null, rank);
            }
            world.awaitReceived(clientCount);
            assertThat(ids).hasSize(clientCount);
            int most = perServer.values().stream().max(Integer::compare).orElseThrow();
            int least = perServer.values().stream().min(Integer::compare).orElseThrow();
            assertThat(most - least).isLessThanOrEqualTo(1);
            assertThat(perServer).hasSize(Math.min(clientCount, slaveCount + 1));
            for (DartWorld.Received message : world.received) {
                assertThat(message.payload())
                        .isEqualTo(DartWorld.bytes(100, message.tag()).byteArray());
            }
        }
    }

    @Test
    @Tag("dart-D2")
    void shouldWaitForMasterAndGiveUpWhenNoneComes() throws Exception {
        try (DartWorld world = world().receive()) {
            assertThatThrownBy(() -> world.client(0, c -> c.bootTimeoutNs(SHORT_NS)))
                    .isInstanceOfSatisfying(
                            DartException.class,
                            e ->
                                    assertThat(e.code())
                                            .isEqualTo(DartException.Code.NOT_BOOTSTRAPPED))
                    .hasMessageContaining("dart.conf");
            CompletableFuture<Integer> connecting =
                    CompletableFuture.supplyAsync(
                            () -> {
                                DartClient client = DartClient.connect(world.clientContext(0));
                                int id = client.clientId();
                                client.close();
                                return id;
                            });
            world.master();
            assertThat(connecting.get(30, TimeUnit.SECONDS)).isPositive();
        }
    }

    @Test
    @Tag("dart-D3")
    void shouldLetSlaveWaitForMasterAndGiveUpWhenNoneComes() throws Exception {
        try (DartWorld world = world().receive()) {
            DartServer lonely = world.slave(c -> c.bootTimeoutNs(SHORT_NS));
            assertThatThrownBy(() -> lonely.awaitReady(DartWorld.LIMIT_NS))
                    .isInstanceOfSatisfying(
                            DartException.class,
                            e ->
                                    assertThat(e.code())
                                            .isEqualTo(DartException.Code.NOT_BOOTSTRAPPED))
                    .hasMessageContaining("dart.conf");
            DartServer slave = world.slave();
            assertThat(slave.isReady()).isFalse();
            world.master(c -> c.serverCount(2));
            slave.awaitReady(DartWorld.LIMIT_NS);
            assertThat(slave.serverId()).isEqualTo(1);
        }
    }

    @Test
    @Tag("dart-D4")
    void shouldWaitForAReceiverThatMayStillCome() throws Exception {
        try (DartWorld world = world().receive()) {
            world.receiver.close();
            world.master().awaitReady(DartWorld.LIMIT_NS);
            DartClient client = DartClient.start(world.clientContext(0));
            world.clients.add(client);
            Await.until("told", () -> client.progress() >= 0 && !refusals(world).isEmpty());
            assertThat(client.isConnected()).isFalse();
            world.receive(world.receiverContext().listen(world.receiverAt()));
            Await.until("connected", () -> client.progress() >= 0 && client.isConnected());
            client.sendCopy(DartWorld.bytes(100, 1), 0, 100, null, 1);
            client.flush(DartWorld.LIMIT_NS);
            assertThat(refusals(world))
                    .singleElement()
                    .asString()
                    .contains("answered: receiver unreachable; waiting");
        }
    }

    @Test
    @Tag("dart-D4")
    void shouldWaitForAReceiverThatMayStillComeWhereASlaveRefuses() throws Exception {
        try (DartWorld world = world().receive()) {
            world.receiver.close();
            world.master(c -> c.serverCount(2));
            world.slave().awaitReady(DartWorld.LIMIT_NS);
            // One of the two is given to the slave.
            for (int rank = 0; rank < 2; rank++) {
                world.clients.add(DartClient.start(world.clientContext(rank)));
            }
            Await.until("told", () -> progress(world) >= 0 && refusals(world).size() == 2);
            // Each try would leave a connection open, of which a client may have four.
            long end = System.nanoTime() + ANSWERED_NS;
            Await.until("tried often", () -> progress(world) >= 0 && System.nanoTime() - end > 0);
            world.receive(world.receiverContext().listen(world.receiverAt()));
            Await.until(
                    "connected",
                    () ->
                            progress(world) >= 0
                                    && world.clients.stream().allMatch(DartClient::isConnected));
        }
    }

    private static int progress(DartWorld world) {
        return world.clients.stream().mapToInt(DartClient::progress).sum();
    }

    private static List<Throwable> refusals(DartWorld world) {
        return world.errors.stream().filter(e -> e.getMessage().contains("answered: ")).toList();
    }

    @Test
    @Tag("dart-D4")
    void shouldTellClientWhenReceiverIsUnreachable() throws Exception {
        try (DartWorld world = world().receive()) {
            world.receiver.close();
            DartServer master = world.master();
            master.awaitReady(DartWorld.LIMIT_NS);
            assertThatThrownBy(() -> world.client(0, c -> c.bootTimeoutNs(500_000_000)))
                    .isInstanceOfSatisfying(
                            DartException.class,
                            e ->
                                    assertThat(e.code())
                                            .isEqualTo(DartException.Code.RECEIVER_UNREACHABLE))
                    .hasMessageContaining("gave up after ");
            assertThat(master.isReady()).isTrue();
        }
    }

    @Test
    @Tag("dart-D4")
    @Tag("dart-F7")
    void shouldRegisterAndSendWithoutReceiverWhenSpillIsOn() throws Exception {
        try (DartWorld world = world().receive()) {
            world.receiver.close();
            String spill = world.directory.resolve("spill").toString();
            DartServer master = world.master(c -> c.spill(spill, 1 << 28).bufferCount(2));
            master.awaitReady(DartWorld.LIMIT_NS);
            DartClient client = world.client(0);
            List<DartTicket> tickets = new ArrayList<>();
            for (int i = 0; i < 40; i++) {
                DartMetadata metadata = new DartMetadata().name("m").step(i);
                tickets.add(client.sendCopy(DartWorld.bytes(90_000, i), 0, 90_000, metadata, i));
            }
            client.flush(DartWorld.LIMIT_NS);
            assertThat(tickets).allMatch(ticket -> ticket.state() == TicketState.SPILLED);
            assertThat(master.spill().messageCount()).isEqualTo(40);
            world.receive(world.receiverContext().listen(world.receiverAt()));
            world.awaitReceived(40);
            for (int i = 0; i < 40; i++) {
                assertThat(world.received.get(i).tag()).isEqualTo(i);
                assertThat(world.received.get(i).payload())
                        .isEqualTo(DartWorld.bytes(90_000, i).byteArray());
            }
            dev.verbena.agent.Await.until(
                    "all confirmed after all",
                    () -> {
                        client.unconfirmed();
                        client.wouldBlock();
                        return tickets.get(39).state() == TicketState.STREAMED;
                    });
            assertThat(tickets).allMatch(ticket -> ticket.state() == TicketState.STREAMED);
            dev.verbena.agent.Await.until("files gone", () -> master.spill().fileCount() == 0);
        }
    }

    @Test
    @Tag("dart-D6")
    void shouldBootFromLegacyFileAndFromEnvironment() throws Exception {
        try (DartWorld world = world().receive()) {
            DartServer master = world.master(c -> c.legacyFile(true));
            master.awaitReady(DartWorld.LIMIT_NS);
            Path file = Path.of(world.configurationFile());
            assertThat(Files.readAllLines(file))
                    .hasSize(2)
                    .first()
                    .asString()
                    .startsWith("P2TNID=");
            world.client(0);
            String url = master.uri().toString();
            Files.writeString(file, "nonsense\n");
            world.client(1, c -> c.variables(name -> name.equals("P2TNID") ? url : null));
            world.client(
                    2,
                    c ->
                            c.configurationFile("")
                                    .variables(
                                            name ->
                                                    name.equals(DartConfiguration.URL_VARIABLE)
                                                            ? url
                                                            : null));
            assertThat(master.clientCount()).isEqualTo(3);
        }
    }

    @Test
    @Tag("dart-D8")
    void shouldGiveSameIdWhenSameRankRegistersAgain() throws Exception {
        try (DartWorld world = world().receive()) {
            world.master(c -> c.serverCount(2));
            world.slave();
            DartClient first = world.client(5);
            DartClient other = world.client(6);
            DartClient otherApplication = world.client(5, c -> c.applicationId(1));
            first.sendCopy(DartWorld.bytes(10, 1), 0, 10, null, 0);
            first.close();
            DartClient again = world.client(5);
            assertThat(again.clientId()).isEqualTo(first.clientId());
            assertThat(Set.of(first.clientId(), other.clientId(), otherApplication.clientId()))
                    .hasSize(3);
            again.sendCopy(DartWorld.bytes(10, 2), 0, 10, null, 0);
            world.awaitReceived(2);
        }
    }

    @Test
    @Tag("dart-D8")
    void shouldServeTheLaterOfTwoProcessesOfARank() throws Exception {
        try (DartWorld world = world().receive()) {
            world.master(c -> c.clientCount(1));
            // Its server is silent, which it is to notice before it gives the header up.
            DartClient first = world.client(5, c -> c.headerTries(20));
            first.sendCopy(DartWorld.bytes(10, 1), 0, 10, null, 1);
            world.awaitReceived(1);
            DartClient second = world.client(5);
            DartTicket late = first.sendCopy(DartWorld.bytes(10, 2), 0, 10, null, 2);
            DartTicket good = second.sendCopy(DartWorld.bytes(10, 3), 0, 10, null, 3);
            Await.until(
                    "each has its end",
                    () -> {
                        first.progress();
                        second.progress();
                        return late.state().isFinal() && good.state().isFinal();
                    });
            assertThat(good.state()).isEqualTo(TicketState.STREAMED);
            assertThat(late.state()).isEqualTo(TicketState.FAILED);
            assertThat(world.received).extracting(m -> m.tag()).containsExactly(1, 3);
            world.clients.remove(first);
            assertThatThrownBy(first::close).hasMessageContaining("1 messages unconfirmed");
        }
    }

    @Test
    @Tag("dart-D9")
    void shouldLoseNoneOf128SimultaneousRegistrations() throws Exception {
        try (DartWorld world = world().receive()) {
            world.master(c -> c.serverCount(2));
            world.slave();
            List<DartClient> starting = new ArrayList<>();
            for (int rank = 0; rank < 128; rank++) {
                // Opening 128 cards one after the other may take a provider longer than the
                // default.
                starting.add(
                        DartClient.start(
                                world.clientContext(rank).bootTimeoutNs(300_000_000_000L)));
            }
            world.clients.addAll(starting);
            Set<Integer> ids = new HashSet<>();
            for (DartClient client : starting) {
                Await.until(
                        "client connected",
                        () -> {
                            starting.forEach(DartClient::progress);
                            return client.isConnected();
                        });
                ids.add(client.clientId());
            }
            assertThat(ids).hasSize(128);
        }
    }

    /** How connecting ends once it was answered, however slow this machine is just now. */
    private static DartException refusal(
            DartWorld world, String said, Consumer<DartClient.Context> change) {
        for (long timeoutNs = ANSWERED_NS; ; timeoutNs *= 4) {
            long bootTimeoutNs = timeoutNs;
            DartException refusal =
                    catchThrowableOfType(
                            DartException.class,
                            () ->
                                    world.client(
                                            0, c -> change.accept(c.bootTimeoutNs(bootTimeoutNs))));
            assertThat(refusal).isNotNull();
            if (refusal.getMessage().contains(said) || timeoutNs > DartWorld.LIMIT_NS) {
                return refusal;
            }
        }
    }

    @Test
    @Tag("dart-D10")
    void shouldRefuseWrongJob() throws Exception {
        try (DartWorld world = world().receive()) {
            DartServer master = world.master();
            master.awaitReady(DartWorld.LIMIT_NS);
            UUID wrong = new UUID(1, 2);
            String variable = DartConfiguration.JOB_VARIABLE;
            assertThat(
                            refusal(
                                    world,
                                    "wrong service",
                                    c ->
                                            c.variables(
                                                    name ->
                                                            name.equals(variable)
                                                                    ? wrong.toString()
                                                                    : null)))
                    .matches(e -> e.code() == DartException.Code.NOT_BOOTSTRAPPED)
                    .hasMessageContaining("wrong service")
                    .hasMessageContaining("s old");
            assertThat(refusal(world, wrong.toString(), c -> c.serviceId(wrong)))
                    .hasMessageContaining(wrong.toString());
            assertThat(master.clientCount()).isZero();
        }
    }

    @Test
    void shouldNameFileAndAgeWhenItIsStale() throws Exception {
        try (DartWorld world = world().receive()) {
            DartServer master = world.master();
            master.awaitReady(DartWorld.LIMIT_NS);
            String stale = Files.readString(Path.of(world.configurationFile()));
            master.close();
            assertThat(Path.of(world.configurationFile())).doesNotExist();
            Files.writeString(Path.of(world.configurationFile()), stale);
            assertThat(refusal(world, "stale", c -> {}))
                    .matches(e -> e.code() == DartException.Code.NOT_BOOTSTRAPPED)
                    .hasMessageContaining("dart.conf")
                    .hasMessageContaining("s old")
                    .hasMessageContaining("stale");
        }
    }
}
