package dev.verbena.dart;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.memory.RegisteredRegion;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Headers in order and sent again, and a server's buffers, with every agent stepped by hand. */
@Timeout(value = 120, unit = TimeUnit.SECONDS)
abstract class DartBuffersContract {
    static final DartMetadata NAMED = new DartMetadata().name("n");

    /** URI scheme of the provider. */
    protected abstract String scheme();

    SteppedWorld start() {
        return new SteppedWorld(scheme()).start(c -> {});
    }

    private static int inQueues(ServerStatistics s) {
        return s.emptyCount() + s.pendingCount() + s.fullCount() + s.streamingCount();
    }

    @Test
    @Tag("dart-D25")
    void shouldSendHeaderAgainWhenItWasLost() throws Exception {
        try (SteppedWorld world = start()) {
            DartClient client = world.client(0, c -> c.headerTimeoutNs(20_000_000L).maxInFlight(4));
            world.clientProbe.losesSend = number -> number == 2 || number == 3;
            for (int i = 0; i < 4; i++) {
                client.sendCopy(DartWorld.bytes(100, i), 0, 100, NAMED, i);
            }
            world.until("arrived", () -> world.world.received.size() == 4);
            world.settle();
            assertThat(client.statistics().headerResendCount()).isPositive();
            assertThat(world.world.received)
                    .extracting(DartWorld.Received::tag)
                    .containsExactly(0, 1, 2, 3);
        }
    }

    @Test
    @Tag("dart-D25")
    void shouldFailMessageWhoseHeaderIsLostEveryTime() throws Exception {
        try (SteppedWorld world = start()) {
            DartClient client = world.client(0, c -> c.headerTimeoutNs(5_000_000L).headerTries(3));
            world.clientProbe.losesSend = number -> number > 1;
            DartTicket lost = client.sendCopy(DartWorld.bytes(100, 0), 0, 100, NAMED, 0);
            world.until("given up", () -> lost.state() == TicketState.FAILED);
            assertThat(lost.failureCode()).isEqualTo(DartException.Code.HEADER_LOST);
            world.clientProbe.losesSend = number -> false;
            DartTicket next = client.sendCopy(DartWorld.bytes(100, 1), 0, 100, NAMED, 1);
            world.until("next one arrives", () -> next.state() == TicketState.STREAMED);
            assertThat(world.world.received).extracting(DartWorld.Received::tag).containsExactly(1);
        }
    }

    /** A server that was held up comes to the header when the client has given it up. */
    @Test
    @Tag("dart-D25")
    void shouldReadNothingElseUnderAHeaderThatWasGivenUp() throws Exception {
        try (SteppedWorld world = start()) {
            DartClient client = world.client(0, c -> c.headerTimeoutNs(5_000_000L).headerTries(3));
            world.isServerStopped = true;
            DartTicket lost = client.sendCopy(DartWorld.bytes(5000, 0), 0, 5000, NAMED, 0);
            world.until("given up", () -> lost.state() == TicketState.FAILED);
            DartTicket mark = client.sendCopy(DartWorld.bytes(0, 2), 0, 0, NAMED, 2);
            world.until("given up, too", () -> mark.state() == TicketState.FAILED);
            DartTicket next = client.sendCopy(DartWorld.bytes(5000, 1), 0, 5000, NAMED, 1);
            world.isServerStopped = false;
            world.until("next one arrives", () -> next.state() == TicketState.STREAMED);
            // The mark has no bytes that could be others.
            assertThat(world.world.received)
                    .extracting(DartWorld.Received::tag)
                    .containsExactly(2, 1);
            assertThat(world.world.received.get(1).payload())
                    .isEqualTo(DartWorld.bytes(5000, 1).byteArray());
        }
    }

    @Test
    @Tag("dart-D25")
    @Tag("dart-D30")
    void shouldKeepHeadersInOrderWhileNoBufferIsEmpty() throws Exception {
        try (SteppedWorld world = new SteppedWorld(scheme()).start(c -> c.bufferCount(3))) {
            List<DartClient> clients = new ArrayList<>();
            for (int rank = 0; rank < 3; rank++) {
                clients.add(world.client(rank, c -> c.maxInFlight(2).headerTimeoutNs(20_000_000L)));
            }
            world.isReceiverStopped = true;
            List<Integer> order = new ArrayList<>();
            for (int i = 0; i < 9; i++) {
                DartClient client = clients.get(i % 3);
                if (client.wouldBlock()) {
                    continue;
                }
                client.sendCopy(DartWorld.bytes(5000, i), 0, 5000, NAMED, i);
                order.add(i);
                for (int j = 0; j < 5; j++) {
                    world.step();
                }
            }
            world.until(
                    "headers wait",
                    () ->
                            world.server.statistics().parkedHeaderCount() == order.size() - 3
                                    && clients.stream()
                                            .anyMatch(c -> c.statistics().headerResendCount() > 0));
            world.settle();
            ServerStatistics stuck = world.server.statistics();
            assertThat(stuck.emptyCount()).isZero();
            assertThat(inQueues(stuck)).isEqualTo(3);
            assertThat(stuck.duplicateHeaderCount()).isPositive();
            assertThat(clients.get(1).wouldBlock()).isTrue();
            assertThat(world.world.received).isEmpty();
            world.isReceiverStopped = false;
            world.until("all arrive", () -> world.world.received.size() == order.size());
            assertThat(world.world.received)
                    .extracting(DartWorld.Received::tag)
                    .containsExactlyElementsOf(order);
            world.until("all free", () -> world.server.statistics().emptyCount() == 3);
            assertThat(clients.get(1).wouldBlock()).isFalse();
            // A server that is only slow loses no header: it says that it has them.
            assertThat(clients.get(1).statistics().failedCount()).isZero();
        }
    }

    @Test
    @Tag("dart-D27")
    void shouldConserveBuffersUnderLoadAndFailure() throws Exception {
        try (SteppedWorld world = new SteppedWorld(scheme()).start(c -> c.bufferCount(5))) {
            DartClient client = world.client(0, c -> c.maxInFlight(4));
            SplittableRandom random = new SplittableRandom(27);
            List<DartTicket> tickets = new ArrayList<>();
            for (int i = 0; i < 400; i++) {
                RegisteredRegion region = client.allocate(400_000);
                while (client.wouldBlock()) {
                    world.step();
                    assertThat(inQueues(world.server.statistics())).isEqualTo(5);
                }
                tickets.add(client.send(region, 0, random.nextInt(400_000), NAMED, i));
                for (int j = random.nextInt(6); j > 0; j--) {
                    world.step();
                    assertThat(inQueues(world.server.statistics())).isEqualTo(5);
                }
                if (random.nextInt(8) == 0) {
                    region.close();
                } else {
                    DartTicket ticket = tickets.get(i);
                    world.until(
                            "transferred",
                            () -> ticket.state().compareTo(TicketState.TRANSFERRED) >= 0);
                    region.close();
                }
            }
            world.until("all final", () -> tickets.stream().allMatch(t -> t.state().isFinal()));
            world.until("all free", () -> world.server.statistics().emptyCount() == 5);
            long failed = tickets.stream().filter(t -> t.state() == TicketState.FAILED).count();
            assertThat(failed).isPositive();
            assertThat(world.server.statistics().failedCount()).isEqualTo(failed);
            assertThat(world.world.received).hasSize(400 - (int) failed);
            int last = -1;
            for (DartWorld.Received message : world.world.received) {
                assertThat(message.tag()).isGreaterThan(last);
                last = message.tag();
                assertThat(tickets.get(last).state()).isEqualTo(TicketState.STREAMED);
                assertThat(message.payload()).hasSize((int) tickets.get(last).length());
            }
        }
    }

    /** First pieces and later ones. */
    @Test
    @Tag("dart-D27")
    @Tag("dart-F5")
    void shouldConserveBuffersWhenTheTransportThrows() throws Exception {
        try (SteppedWorld world = new SteppedWorld(scheme()).start(c -> c.pieceLength = 8192)) {
            DartClient client = world.client(0, c -> c.maxInFlight(4));
            int buffers = inQueues(world.server.statistics());
            SplittableRandom random = new SplittableRandom(5);
            world.serverProbe.throwsGet = number -> random.nextInt(20) == 0;
            List<DartTicket> tickets = new ArrayList<>();
            for (int i = 0; i < 60; i++) {
                world.until("room", () -> !client.wouldBlock());
                int length = random.nextInt(200_000);
                tickets.add(client.sendCopy(DartWorld.bytes(length, i), 0, length, NAMED, i));
                assertThat(inQueues(world.server.statistics())).isEqualTo(buffers);
            }
            world.until("all final", () -> tickets.stream().allMatch(t -> t.state().isFinal()));
            world.until("all free", () -> world.server.statistics().emptyCount() == buffers);
            List<Integer> delivered =
                    tickets.stream()
                            .filter(ticket -> ticket.state() == TicketState.STREAMED)
                            .map(ticket -> tickets.indexOf(ticket))
                            .toList();
            assertThat(delivered).hasSizeBetween(5, 55);
            assertThat(world.world.received)
                    .extracting(DartWorld.Received::tag)
                    .containsExactlyElementsOf(delivered);
            assertThat(world.world.errors)
                    .anyMatch(e -> e.getMessage().contains("is refused by the test"));
        }
    }

    @Test
    @Tag("dart-D27")
    void shouldTellReceiverOfMessageGivenUpHalfWay() throws Exception {
        try (SteppedWorld world = new SteppedWorld(scheme()).start(c -> c.bufferCount(2))) {
            DartClient client = world.client(0, c -> {});
            RegisteredRegion region = client.allocate(1_000_000);
            DartTicket half = client.send(region, 0, 1_000_000, NAMED, 0);
            world.until("some is here", () -> world.server.statistics().streamedBytes() > 100_000);
            region.close();
            world.until("failed", () -> half.state() == TicketState.FAILED);
            assertThat(half.failureCode()).isEqualTo(DartException.Code.TRANSFER_FAILED);
            DartTicket next = client.sendCopy(DartWorld.bytes(10, 1), 0, 10, NAMED, 1);
            world.until("next", () -> next.state() == TicketState.STREAMED);
            assertThat(world.receiver.statistics().abandonedCount()).isEqualTo(1);
            assertThat(world.world.received).extracting(DartWorld.Received::tag).containsExactly(1);
            assertThat(inQueues(world.server.statistics())).isEqualTo(2);
        }
    }

    @Test
    @Tag("dart-D28")
    void shouldUseTheSameBuffersFromStartToEnd() throws Exception {
        try (SteppedWorld world = start()) {
            DartClient client = world.client(0, c -> {});
            List<Long> regions = List.copyOf(world.serverProbe.regionAddresses);
            int allocations = world.serverProbe.count("allocate");
            for (int i = 0; i < 200; i++) {
                world.until("free", () -> !client.wouldBlock());
                client.sendCopy(DartWorld.bytes(70_000, i), 0, 70_000, NAMED, i);
            }
            world.until("arrived", () -> world.world.received.size() == 200);
            assertThat(world.serverProbe.count("allocate")).isEqualTo(allocations).isEqualTo(3);
            assertThat(world.serverProbe.count("register")).isZero();
            assertThat(world.serverProbe.regionAddresses).isEqualTo(regions);
        }
    }

    @Test
    @Tag("dart-D29")
    void shouldKeepOrderOfClientWhenTransfersCompleteOutOfOrder() throws Exception {
        try (SteppedWorld world = start()) {
            DartClient client = world.client(0, c -> c.maxInFlight(4));
            for (int round = 0; round < 20; round++) {
                world.serverProbe.isHoldingGets = true;
                int before = world.serverProbe.count("get");
                for (int i = 0; i < 4; i++) {
                    client.sendCopy(DartWorld.bytes(1000, i), 0, 1000, NAMED, 4 * round + i);
                }
                world.until("posted", () -> world.serverProbe.count("get") == before + 4);
                world.settle();
                assertThat(world.world.received).hasSize(4 * round);
                world.serverProbe.isHoldingGets = false;
                world.until("free", () -> client.unconfirmed().isEmpty());
            }
            assertThat(world.world.received).hasSize(80);
            for (int i = 0; i < 80; i++) {
                assertThat(world.world.received.get(i).tag()).isEqualTo(i);
                assertThat(world.world.received.get(i).payload())
                        .isEqualTo(DartWorld.bytes(1000, i % 4).byteArray());
            }
        }
    }
}
