package dev.verbena.portals.transport;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.dart.DartClient;
import dev.verbena.dart.DartMetadata;
import dev.verbena.dart.DartTicket;
import dev.verbena.dart.TicketState;
import dev.verbena.memory.RegisteredRegion;
import dev.verbena.portals.MemoryDescriptorContext;
import dev.verbena.portals.PortalsRegister;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * DART's assertions about Portals descriptors, with DART running over the provider: the list of
 * three header descriptors, and the descriptor of a message's data.
 */
@Timeout(value = 120, unit = TimeUnit.SECONDS)
class DartHeaderListTest {
    private static final DartMetadata NAMED = new DartMetadata().name("n");

    /** Sends small messages without waiting for them. */
    private static void send(DartOnList world, RegisteredRegion region, int from, int count) {
        DartClient client = world.clients.get(0);
        for (int i = 0; i < count; i++) {
            assertThat(client.trySend(region, 0, 8, NAMED, from + i)).isNotNull();
            client.progress();
        }
    }

    /** Length of a header with its metadata, so that descriptors have room for whole headers. */
    private static int headerLength() throws Exception {
        try (DartOnList world = new DartOnList().start(c -> {}, c -> {})) {
            DartClient client = world.client(0);
            RegisteredRegion region = client.allocate(8);
            world.isServerStopped = true;
            send(world, region, 0, 1);
            ReceiveBuffer first = world.list().get(0);
            int at = 0;
            while (first.bytes.getInt(at) == MessageHeader.TAKEN) {
                at += MessageHeader.space(first.bytes.getInt(at + MessageHeader.LENGTH_OFFSET));
            }
            int length = first.bytes.getInt(at + MessageHeader.LENGTH_OFFSET);
            world.isServerStopped = false;
            world.until("received", () -> world.receivedTags.size() == 1);
            region.close();
            return length;
        }
    }

    private static DartOnList exact(int descriptorSlots, int credits) throws Exception {
        int length = headerLength();
        return new DartOnList()
                .start(
                        c ->
                                c.messageLengthMax(length)
                                        .creditsPerConnection(credits)
                                        .receiveSlotCount(2 * descriptorSlots)
                                        .connectionsMax(2),
                        c -> {});
    }

    @Test
    @Tag("dart-D17")
    void shouldHaveNoDataDescriptorLeftAfterEachTransfer() throws Exception {
        try (DartOnList world = new DartOnList().start(c -> {}, c -> {})) {
            DartClient client = world.client(0);
            PortalsTransport resources = world.clientTransport;
            long descriptors = resources.register(PortalsRegister.DESCRIPTORS);
            long entries = resources.register(PortalsRegister.MATCH_ENTRIES);
            for (int i = 0; i < 50; i++) {
                RegisteredRegion region = client.allocate(10_000);
                assertThat(resources.register(PortalsRegister.DESCRIPTORS))
                        .isGreaterThan(descriptors);
                DartTicket ticket = client.trySend(region, 0, 10_000, NAMED, i);
                world.until(
                        "transferred",
                        () -> ticket.state().compareTo(TicketState.TRANSFERRED) >= 0);
                region.close();
                assertThat(resources.register(PortalsRegister.DESCRIPTORS)).isEqualTo(descriptors);
                assertThat(resources.register(PortalsRegister.MATCH_ENTRIES)).isEqualTo(entries);
            }
            world.until("received", () -> world.receivedTags.size() == 50);
        }
    }

    @Test
    @Tag("dart-D20")
    @Tag("once")
    void shouldHaveThreeDescriptorsAgainAfterManyHeaders() throws Exception {
        int count = 100_000;
        try (DartOnList world = new DartOnList().start(c -> {}, c -> c.discard(true))) {
            DartClient client = world.client(0);
            RegisteredRegion region = client.allocate(8);
            int[] sent = new int[1];
            world.until(
                    "all sent",
                    () -> {
                        while (sent[0] < count
                                && client.trySend(region, 0, 8, NAMED, sent[0]) != null) {
                            sent[0]++;
                        }
                        return sent[0] == count && client.unconfirmed().isEmpty();
                    });
            world.settle();
            PortalsStatistics statistics = world.serverTransport.statistics();
            assertThat(statistics.linkedDescriptors()).isEqualTo(3);
            assertThat(statistics.unlinks()).isGreaterThan(50);
            assertThat(statistics.replacements()).isEqualTo(statistics.unlinks());
            assertThat(statistics.eventLosses()).isZero();
            assertThat(world.serverTransport.register(PortalsRegister.DROP_COUNT)).isZero();
            assertThat(world.clientTransport.statistics().droppedSends()).isZero();
            region.close();
        }
    }

    @Test
    @Tag("dart-D21")
    @Tag("dart-D22")
    void shouldFillDescriptorsInOrderAndProcessWhatIsInUnlinkedOnes() throws Exception {
        try (DartOnList world = exact(16, 32)) {
            DartClient client = world.client(0);
            RegisteredRegion region = client.allocate(8);
            send(world, region, 0, 5);
            world.until("first received", () -> world.receivedTags.size() == 5);
            world.settle();
            List<ReceiveBuffer> list = world.list();
            assertThat(list).hasSize(3);
            assertThat(list.stream().map(b -> b.entry.matchBits()).distinct()).hasSize(1);
            int taken = list.get(0).held; // what the server still holds counts as used, too
            assertThat(list.stream().map(DartOnList::waiting)).allMatch(List::isEmpty);
            long descriptors = world.serverDescriptors();
            long entries = world.serverEntries();
            // The registration and five headers are in the first: room for ten.
            world.isServerStopped = true;
            send(world, region, 100, 30);
            List<Integer> first = DartOnList.waiting(list.get(0));
            List<Integer> second = DartOnList.waiting(list.get(1));
            List<Integer> third = DartOnList.waiting(list.get(2));
            assertThat(List.of(first.size(), second.size(), third.size()))
                    .as("held before %d", taken)
                    .containsExactly(10, 16, 4);
            List<Integer> all = new ArrayList<>(first);
            all.addAll(second);
            all.addAll(third);
            assertThat(all)
                    .isEqualTo(IntStream.range(all.get(0), all.get(0) + 30).boxed().toList());
            // Portals has unlinked the two that are full, entries too; the memory stays readable.
            assertThat(world.serverDescriptors()).isEqualTo(descriptors - 2);
            assertThat(world.serverEntries()).isEqualTo(entries - 2);
            world.isServerStopped = false;
            world.until("all received", () -> world.receivedTags.size() >= 35);
            world.settle();
            assertThat(world.receivedTags)
                    .containsExactlyElementsOf(
                            IntStream.concat(IntStream.range(0, 5), IntStream.range(100, 130))
                                    .boxed()
                                    .toList());
            PortalsStatistics statistics = world.serverTransport.statistics();
            assertThat(statistics.linkedDescriptors()).isEqualTo(3);
            assertThat(statistics.unlinks()).isEqualTo(2);
            assertThat(statistics.replacements()).isEqualTo(2);
            assertThat(world.serverDescriptors()).isEqualTo(descriptors);
            region.close();
        }
    }

    @Test
    @Tag("dart-D23")
    void shouldRefuseToResetADescriptorWithPendingEvents() throws Exception {
        try (DartOnList world = exact(16, 32)) {
            DartClient client = world.client(0);
            RegisteredRegion region = client.allocate(8);
            world.settle();
            world.isServerStopped = true;
            send(world, region, 0, 3);
            ReceiveBuffer first = world.list().get(0);
            List<Integer> before = DartOnList.waiting(first);
            assertThat(before).hasSize(3);
            boolean isReset =
                    first.descriptor.update(
                            new MemoryDescriptorContext()
                                    .memory(first.memory)
                                    .acceptPut(true)
                                    .startEvents(false)
                                    .userPointer(first.index)
                                    .queue(world.serverTransport.resources().messageQueue),
                            world.serverTransport.resources().messageQueue);
            assertThat(isReset).isFalse();
            // The next header goes behind the others: the offset did not fall back.
            send(world, region, 3, 2);
            List<Integer> after = DartOnList.waiting(first);
            assertThat(after).hasSize(5).isSorted().startsWith(before.toArray(Integer[]::new));
            world.isServerStopped = false;
            world.until("all received", () -> world.receivedTags.size() == 5);
            assertThat(world.receivedTags).containsExactly(0, 1, 2, 3, 4);
            region.close();
        }
    }

    @Test
    @Tag("dart-D24")
    void shouldUnlinkWhenSevenSlotsAreUsedAlthoughThreeAreConsumed() throws Exception {
        try (DartOnList world = exact(7, 8)) {
            DartClient client = world.client(0);
            RegisteredRegion region = client.allocate(8);
            world.settle();
            long entries = world.serverEntries();
            ReceiveBuffer first = world.list().get(0);
            ReceiveBuffer second = world.list().get(1);
            // The registration took one slot and was consumed; five headers: six of seven arrived.
            world.serverBudget = 0;
            send(world, region, 0, 5);
            assertThat(DartOnList.waiting(first)).hasSize(5);
            world.serverBudget = 2;
            world.until("three consumed", () -> DartOnList.waiting(first).size() == 3);
            assertThat(world.serverEntries()).isEqualTo(entries);
            // The seventh makes it full, although three of its slots are free.
            send(world, region, 5, 1);
            assertThat(DartOnList.waiting(first)).hasSize(4);
            assertThat(world.serverEntries()).isEqualTo(entries - 1);
            send(world, region, 6, 1);
            assertThat(DartOnList.waiting(first)).hasSize(4);
            assertThat(DartOnList.waiting(second)).hasSize(1);
            world.serverBudget = -1;
            world.until("all received", () -> world.receivedTags.size() == 7);
            assertThat(world.receivedTags).containsExactly(0, 1, 2, 3, 4, 5, 6);
            world.settle();
            assertThat(world.serverEntries()).isEqualTo(entries);
            assertThat(world.serverTransport.statistics().linkedDescriptors()).isEqualTo(3);
            region.close();
        }
    }

    @Test
    @Tag("dart-D26")
    void shouldLoseNoMessageWhenTheEventQueueOverflows() throws Exception {
        try (DartOnList world =
                new DartOnList().start(c -> c.option(ResourceSizes.EVENTS_OPTION, "4"), c -> {})) {
            DartClient client = world.client(0);
            RegisteredRegion region = client.allocate(8);
            world.settle();
            int sent = 0;
            for (int round = 0; round < 5; round++) {
                world.isServerStopped = true;
                send(world, region, sent, 15);
                sent += 15;
                world.isServerStopped = false;
                int expected = sent;
                world.until("all received", () -> world.receivedTags.size() >= expected);
            }
            world.settle();
            assertThat(world.receivedTags)
                    .containsExactlyElementsOf(IntStream.range(0, sent).boxed().toList());
            PortalsStatistics statistics = world.serverTransport.statistics();
            assertThat(statistics.eventLosses()).isEqualTo(5);
            assertThat(statistics.linkedDescriptors()).isEqualTo(3);
            region.close();
        }
    }

    @Test
    @Tag("dart-D14")
    void shouldShowThePortalsCallsOfOneMessage() throws Exception {
        try (DartOnList world = new DartOnList().start(c -> {}, c -> {})) {
            DartClient client = world.client(0);
            RegisteredRegion region = client.allocate(1000);
            world.settle();
            world.isTracing = true;
            DartTicket ticket = client.trySend(region, 0, 1000, NAMED, 1);
            world.until("done", () -> ticket.state().compareTo(TicketState.STREAMED) >= 0);
            world.isTracing = false;
            List<DartOnList.Call> moves =
                    world.calls.stream()
                            .filter(
                                    c ->
                                            c.name().startsWith("PtlPut")
                                                    || c.name().equals("PtlGetRegion"))
                            .filter(
                                    c ->
                                            c.arguments().contains(" pt_index=0 ")
                                                    || c.name().equals("PtlGetRegion"))
                            .toList();
            // The client puts a header to table entry 0 and is done; the server gets the data
            // straight from the client's memory and puts an answer to the client's list.
            assertThat(moves.get(0).who()).isEqualTo("client");
            assertThat(moves.get(0).name()).isEqualTo("PtlPutRegion");
            assertThat(moves.get(0).arguments())
                    .contains("pt_index=0 match_bits=0x4 ")
                    .contains("target=" + world.serverTransport.resources().ni.id());
            assertThat(moves.get(1).who()).isEqualTo("server");
            assertThat(moves.get(1).name()).isEqualTo("PtlGetRegion");
            assertThat(moves.get(1).arguments())
                    .contains("length=1000")
                    .contains("target=" + world.clientTransport.resources().ni.id());
            assertThat(moves.get(2).who()).isEqualTo("server");
            assertThat(moves.get(2).name()).isEqualTo("PtlPutRegion");
            assertThat(moves.get(2).arguments())
                    .contains("pt_index=0 match_bits=0x4 ")
                    .contains("target=" + world.clientTransport.resources().ni.id());
            assertThat(moves).allMatch(c -> c.result().equals("delivered"));
            assertThat(moves.stream().filter(c -> c.who().equals("client"))).hasSize(1);
            region.close();
        }
    }
}
