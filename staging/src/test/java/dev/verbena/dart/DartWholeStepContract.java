package dev.verbena.dart;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.agent.Await;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Whole steps at the receiver: one small subclass for each provider names the scheme of the
 * transport.
 */
@Timeout(value = 120, unit = TimeUnit.SECONDS)
public abstract class DartWholeStepContract {
    private static final long SHORT_NS = 300_000_000L;
    private static final int LENGTH = 10_000;

    /** What a handler was given. */
    private record Seen(
            int application,
            long step,
            boolean isComplete,
            List<Integer> missing,
            String text,
            List<String> messages,
            boolean isIntact) {}

    private final List<Seen> seen = new CopyOnWriteArrayList<>();

    /** For subclasses in other modules. */
    protected DartWholeStepContract() {}

    /** URI scheme of the provider. */
    protected abstract String scheme();

    private Seen look(DartStep step) {
        List<String> messages = new ArrayList<>();
        boolean isIntact = true;
        for (DartMessage message : step.messages()) {
            DartMetadata metadata = message.metadata();
            messages.add(metadata.rank() + ":" + metadata.variable());
            byte[] payload = new byte[message.length()];
            message.buffer().getBytes(message.offset(), payload);
            UnsafeBuffer expected =
                    data(metadata.rank(), metadata.step(), metadata.variable(), message.length());
            isIntact &= java.util.Arrays.equals(payload, expected.byteArray());
        }
        List<Integer> missing = new ArrayList<>();
        for (int rank : step.missingRanks()) {
            missing.add(rank);
        }
        return new Seen(
                step.applicationId(),
                step.step(),
                step.isComplete(),
                missing,
                step.missing(),
                messages,
                isIntact);
    }

    private static UnsafeBuffer data(int rank, long step, String variable, int length) {
        return DartWorld.bytes(length, rank * 1000L + step * 7 + variable.hashCode());
    }

    private DartWorld world(Consumer<DartStepContext> change) {
        return world(step -> seen.add(look(step)), change);
    }

    private DartWorld world(DartStepHandler handler, Consumer<DartStepContext> change) {
        DartWorld world = new DartWorld(scheme());
        DartStepContext steps = new DartStepContext(handler);
        change.accept(steps);
        return world.receive(
                new DartReceiver.Context().environment(world.environment).steps(steps));
    }

    private static DartTicket send(
            DartClient client, int rank, long step, String variable, int length, boolean isEnd) {
        DartMetadata metadata =
                new DartMetadata().variable(variable).step(step).rank(rank).endOfStep(isEnd);
        return client.sendCopy(data(rank, step, variable, length), 0, length, metadata, 0);
    }

    private void awaitSeen(DartWorld world, int count) {
        Await.until(
                () -> count + " steps; seen " + seen + ", errors " + world.errors,
                () -> {
                    // Headers for which there was no room wait at their client.
                    world.clients.forEach(DartClient::progress);
                    return seen.size() >= count;
                });
    }

    @Test
    void shouldHandOverEachStepOnceWhenAllRanksHaveMarkedItsEnd() throws Exception {
        try (DartWorld world = world(c -> {})) {
            world.master(c -> c.serverCount(2));
            world.slave();
            List<DartClient> clients = new ArrayList<>();
            for (int rank = 0; rank < 3; rank++) {
                clients.add(world.client(rank, c -> c.rankCount(3)));
            }
            for (long step = 0; step < 10; step++) {
                for (int rank = 2; rank >= 0; rank--) {
                    DartClient client = clients.get(rank);
                    send(client, rank, step, "density", LENGTH, false);
                    send(client, rank, step, "velocity", rank * 100_000, true);
                }
            }
            awaitSeen(world, 10);
            for (DartClient client : clients) {
                client.flush(DartWorld.LIMIT_NS);
            }
            assertThat(seen).hasSize(10);
            for (int step = 0; step < 10; step++) {
                Seen one = seen.get(step);
                assertThat(one.step()).isEqualTo(step);
                assertThat(one.isComplete()).isTrue();
                assertThat(one.missing()).isEmpty();
                assertThat(one.text()).isEmpty();
                assertThat(one.isIntact()).isTrue();
                assertThat(one.messages())
                        .containsExactly(
                                "0:density",
                                "0:velocity",
                                "1:density",
                                "1:velocity",
                                "2:density",
                                "2:velocity");
            }
            // The handler has seen the last step; that it has returned is counted a moment later.
            StepStatistics all = new StepStatistics(10, 0, 0, 0, 0, 0, 0, 0, 0, "");
            Await.until(
                    () -> "all counted, not " + world.receiver.stepStatistics(),
                    () -> world.receiver.stepStatistics().equals(all));
            assertThat(world.errors).isEmpty();
        }
    }

    @Test
    void shouldCountMessagesWhereNoEndIsMarkedAndKeepApplicationsApart() throws Exception {
        try (DartWorld world = world(c -> {})) {
            world.master();
            DartMetadata metadata = new DartMetadata().rankCount(1).stepMessageCount(2);
            for (int application = 0; application < 2; application++) {
                int id = application;
                DartClient client = world.client(0, c -> c.applicationId(id));
                for (long step = 5; step < 8; step++) {
                    for (String variable : List.of("a", "b")) {
                        client.sendCopy(
                                data(0, step, variable, LENGTH),
                                0,
                                LENGTH,
                                metadata.step(step).variable(variable),
                                0);
                    }
                }
                awaitSeen(world, 3 * (application + 1));
            }
            assertThat(seen).extracting(Seen::application).containsExactly(0, 0, 0, 1, 1, 1);
            assertThat(seen).extracting(Seen::step).containsExactly(5L, 6L, 7L, 5L, 6L, 7L);
            assertThat(seen).allMatch(s -> s.isComplete() && s.isIntact());
        }
    }

    @Test
    void shouldHandOverWithAListOfWhatIsMissingWhenARankHasDied() throws Exception {
        try (DartWorld world = world(c -> c.rankCount(3).messagesPerRank(2).deadlineNs(SHORT_NS))) {
            world.master();
            DartClient first = world.client(0);
            DartClient second = world.client(1);
            send(first, 0, 1, "a", LENGTH, false);
            send(first, 0, 1, "b", LENGTH, false);
            send(second, 1, 1, "a", LENGTH, false);
            awaitSeen(world, 1);
            Seen one = seen.get(0);
            assertThat(one.isComplete()).isFalse();
            assertThat(one.missing()).containsExactly(1, 2);
            assertThat(one.text()).isEqualTo("rank 1: 1 of 2, rank 2: nothing came");
            assertThat(one.messages()).containsExactly("0:a", "0:b", "1:a");
            send(second, 1, 1, "b", LENGTH, false);
            Await.until("late", () -> world.receiver.stepStatistics().lateCount() == 1);
            assertThat(seen).hasSize(1);
            assertThat(world.errors.toString()).contains("late: message 2 of client 2, rank 1");
        }
    }

    @Test
    void shouldDropAndReportWhatIsNotCompleteWhenToldSo() throws Exception {
        DartStepContext.Incomplete drop = DartStepContext.Incomplete.DROP;
        try (DartWorld world = world(c -> c.rankCount(2).incomplete(drop).deadlineNs(SHORT_NS))) {
            world.master();
            DartClient client = world.client(0);
            DartTicket ticket = send(client, 0, 4, "a", LENGTH, true);
            Await.until("dropped", () -> world.receiver.stepStatistics().droppedCount() == 1);
            assertThat(seen).isEmpty();
            assertThat(world.errors.toString())
                    .contains("step 4 of application 0 is dropped: rank 1: nothing came");
            ticket.await(TicketState.STREAMED, DartWorld.LIMIT_NS);
        }
    }

    @Test
    void shouldNotTakeMoreThanWasAnnounced() throws Exception {
        try (DartWorld world = world(c -> c.rankCount(2).messagesPerRank(1))) {
            world.master();
            DartClient first = world.client(0);
            DartClient second = world.client(1);
            send(first, 0, 1, "a", LENGTH, false);
            send(first, 0, 1, "again", LENGTH, false);
            send(first, 7, 1, "nobody", LENGTH, false);
            first.flush(DartWorld.LIMIT_NS);
            send(second, 1, 1, "a", LENGTH, false);
            awaitSeen(world, 1);
            assertThat(seen.get(0).messages()).containsExactly("0:a", "1:a");
            assertThat(seen.get(0).isComplete()).isTrue();
            assertThat(world.receiver.stepStatistics().surplusCount()).isEqualTo(2);
        }
    }

    @Test
    void shouldCompleteEachStepOfRanksThatStartOneAfterTheOtherAtOneServer() throws Exception {
        int ranks = 4;
        int steps = 20;
        try (DartWorld world = world(c -> c.openStepsMax(4))) {
            world.master();
            for (int rank = 0; rank < ranks; rank++) {
                DartClient client = world.client(rank, c -> c.rankCount(ranks).maxInFlight(64));
                for (long step = 0; step < steps; step++) {
                    send(client, rank, step, "a", LENGTH, true);
                }
                Await.until(
                        () -> "the steps stand still: " + world.receiver.stepStatistics(),
                        () -> {
                            client.progress();
                            return client.unconfirmed().isEmpty();
                        });
            }
            awaitSeen(world, steps);
            assertThat(seen).allMatch(s -> s.isComplete() && s.isIntact());
            assertThat(seen).extracting(Seen::step).isSorted();
            assertThat(world.receiver.stepStatistics().lateCount()).isZero();
            assertThat(world.errors).isEmpty();
        }
    }

    @Test
    void shouldHoldBackTheRankThatIsAheadWhenStepsAreOpen() throws Exception {
        int most = 3;
        try (DartWorld world = world(c -> c.rankCount(2).openStepsMax(most))) {
            world.master(c -> c.serverCount(2).bufferSize(LENGTH + 200));
            world.slave(c -> c.bufferSize(LENGTH + 200));
            DartClient ahead = world.client(0, c -> c.maxInFlight(64));
            DartClient behind = world.client(1);
            // From now on the receiver knows that rank 1 comes by another server.
            send(behind, 1, 0, "b", LENGTH, false);
            behind.flush(DartWorld.LIMIT_NS);
            for (long step = 0; step < 40; step++) {
                send(ahead, 0, step, "a", LENGTH, true);
            }
            Await.until(
                    () -> "held back " + world.receiver.stepStatistics(),
                    () -> {
                        ahead.progress();
                        return world.receiver.stepStatistics().waitCount() > 0;
                    });
            assertThat(world.receiver.stepStatistics().openCount()).isEqualTo(most);
            assertThat(ahead.unconfirmed()).hasSizeGreaterThanOrEqualTo(40 - most);
            for (long step = 0; step < 40; step++) {
                send(behind, 1, step, "a", LENGTH, true);
                ahead.progress();
                assertThat(world.receiver.stepStatistics().openCount()).isLessThanOrEqualTo(most);
            }
            awaitSeen(world, 40);
            assertThat(seen).allMatch(s -> s.isComplete() && s.isIntact());
            assertThat(world.errors).isEmpty();
        }
    }

    @Test
    void shouldBoundMemoryAndEndAStepThatIsTooLarge() throws Exception {
        long limit = 60_000;
        try (DartWorld world = world(c -> c.rankCount(2).bytesMax(limit).openStepsMax(100))) {
            world.master(c -> c.serverCount(2));
            world.slave();
            DartClient ahead = world.client(0, c -> c.maxInFlight(64));
            DartClient behind = world.client(1);
            for (long step = 0; step < 20; step++) {
                send(ahead, 0, step, "a", LENGTH, true);
            }
            Await.until("held", () -> world.receiver.stepStatistics().waitCount() > 0);
            assertThat(world.receiver.stepStatistics().openBytes()).isBetween(1L, limit);
            for (long step = 0; step < 20; step++) {
                send(behind, 1, step, "a", LENGTH, true);
                assertThat(world.receiver.stepStatistics().openBytes()).isLessThan(2 * limit);
            }
            awaitSeen(world, 20);
            assertThat(seen).allMatch(Seen::isComplete);
            send(ahead, 0, 20, "a", 50_000, false);
            send(ahead, 0, 20, "b", 50_000, true);
            awaitSeen(world, 21);
            assertThat(seen.get(20).text()).startsWith("it takes more than bytesMax 60000");
            assertThat(seen.get(20).isComplete()).isFalse();
        }
    }

    @Test
    void shouldGoOnAfterAnExceptionUnlessToldOtherwise() throws Exception {
        AtomicInteger calls = new AtomicInteger();
        DartStepHandler failing =
                step -> {
                    calls.incrementAndGet();
                    throw new IllegalStateException("on purpose");
                };
        try (DartWorld world = world(failing, c -> c.rankCount(1))) {
            world.master();
            DartClient client = world.client(0);
            for (long step = 0; step < 3; step++) {
                send(client, 0, step, "a", LENGTH, true);
            }
            client.flush(DartWorld.LIMIT_NS);
            Await.until("calls", () -> calls.get() == 3);
            Await.until("done", () -> world.receiver.stepStatistics().completeCount() == 3);
            assertThat(world.receiver.stepStatistics().handlerErrorCount()).isEqualTo(3);
            assertThat(world.errors).hasSize(3).allMatch(e -> e.getMessage().equals("on purpose"));
        }
    }

    @Test
    void shouldHandOverAgainWhenTheHandlerFailsAndRetryIsAsked() throws Exception {
        DartStepHandler failing =
                step -> {
                    Seen one = look(step);
                    if (step.failureCount() < 2) {
                        throw new IllegalStateException("not yet");
                    }
                    seen.add(one);
                };
        try (DartWorld world =
                world(
                        failing,
                        c ->
                                c.rankCount(1)
                                        .onException(DartStepContext.OnException.RETRY)
                                        .acknowledgeWhenHandled(true))) {
            world.master();
            DartClient client = world.client(0);
            DartTicket first = send(client, 0, 1, "a", LENGTH, true);
            send(client, 0, 2, "a", LENGTH, true);
            awaitSeen(world, 2);
            assertThat(seen).extracting(Seen::step).containsExactly(1L, 2L);
            assertThat(seen).allMatch(Seen::isIntact);
            assertThat(world.receiver.stepStatistics().handlerErrorCount()).isEqualTo(4);
            first.await(TicketState.STREAMED, DartWorld.LIMIT_NS);
        }
    }

    @Test
    void shouldStopAndLeaveTheStepWithTheServersWhenTheHandlerFailsAndStopIsAsked()
            throws Exception {
        DartStepHandler failing =
                step -> {
                    if (step.step() == 2) {
                        throw new IllegalStateException("disk is on fire");
                    }
                    seen.add(look(step));
                };
        DartWorld world =
                world(
                        failing,
                        c ->
                                c.rankCount(1)
                                        .onException(DartStepContext.OnException.STOP)
                                        .acknowledgeWhenHandled(true));
        DartClient client = null;
        try {
            world.master(c -> c.closeTimeoutNs(SHORT_NS));
            client = DartClient.connect(world.clientContext(0));
            DartTicket first = send(client, 0, 1, "a", LENGTH, true);
            first.await(TicketState.STREAMED, DartWorld.LIMIT_NS);
            DartTicket second = send(client, 0, 2, "a", LENGTH, true);
            Await.until("stopped", () -> world.receiver.failure() != null);
            assertThat(world.receiver.failure())
                    .hasMessageContaining("step 2 of application 0")
                    .hasRootCauseMessage("disk is on fire");
            assertThat(world.receiver.awaitFinished(1, DartWorld.LIMIT_NS)).isFalse();
            assertThatThrownBy(() -> second.await(TicketState.STREAMED, SHORT_NS))
                    .isInstanceOf(DartException.class);
            assertThat(seen).extracting(Seen::step).containsExactly(1L);
            DartClient closing = client;
            assertThatThrownBy(() -> closing.close(SHORT_NS))
                    .isInstanceOfSatisfying(
                            DartException.class,
                            e -> assertThat(e.code()).isEqualTo(DartException.Code.UNCONFIRMED));
        } finally {
            world.close();
        }
    }

    @Test
    void shouldHandOverStepsWhoseMessagesWereStoredAndReachThemAllDespiteCuts() throws Exception {
        DartStepContext steps = new DartStepContext(step -> seen.add(look(step)));
        steps.rankCount(2).acknowledgeWhenHandled(true);
        try (DartWorld world = new DartWorld(scheme())) {
            java.nio.file.Path out = world.directory.resolve("out");
            world.receive(
                    new DartReceiver.Context()
                            .environment(world.environment)
                            .directory(out.toString())
                            .steps(steps));
            try (CutProxy proxy = new CutProxy(world.receiverPort)) {
                world.receiverPort = proxy.port();
                world.master(c -> c.bufferCount(16));
                DartClient first = world.client(0);
                DartClient second = world.client(1);
                for (long step = 0; step < 12; step++) {
                    send(first, 0, step, "a", 100_000, true);
                    if (step % 4 == 1) {
                        proxy.cut();
                    }
                    send(second, 1, step, "a", 70_000, true);
                }
                awaitSeen(world, 12);
                first.flush(DartWorld.LIMIT_NS);
                second.flush(DartWorld.LIMIT_NS);
                assertThat(proxy.cuts).isPositive();
                for (int step = 0; step < 12; step++) {
                    assertThat(seen.get(step).step()).isEqualTo(step);
                    assertThat(seen.get(step).isComplete() && seen.get(step).isIntact()).isTrue();
                }
                assertThat(seen).hasSize(12);
                assertThat(out.toFile().list()).filteredOn(f -> f.startsWith("m")).hasSize(24);
            }
        }
    }

    @Test
    void shouldAcknowledgeOnlyWhatWasHandledWhenToldSo() throws Exception {
        CompletableFuture<Void> goOn = new CompletableFuture<>();
        AtomicInteger calls = new AtomicInteger();
        DartStepHandler slow =
                step -> {
                    calls.incrementAndGet();
                    goOn.join();
                };
        try (DartWorld world = world(slow, c -> c.rankCount(2).acknowledgeWhenHandled(true))) {
            world.master();
            DartClient first = world.client(0);
            DartClient second = world.client(1);
            DartTicket ticket = send(first, 0, 1, "a", LENGTH, true);
            assertThatThrownBy(() -> ticket.await(TicketState.STREAMED, SHORT_NS))
                    .isInstanceOf(DartException.class);
            DartTicket other = send(second, 1, 1, "a", LENGTH, true);
            Await.until("called", () -> calls.get() == 1);
            assertThatThrownBy(() -> ticket.await(TicketState.STREAMED, SHORT_NS))
                    .isInstanceOf(DartException.class);
            goOn.complete(null);
            ticket.await(TicketState.STREAMED, DartWorld.LIMIT_NS);
            other.await(TicketState.STREAMED, DartWorld.LIMIT_NS);
            assertThat(calls).hasValue(1);
        }
    }
}
