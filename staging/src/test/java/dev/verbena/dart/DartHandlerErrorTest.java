package dev.verbena.dart;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.agent.Await;
import dev.verbena.dart.receiver.RankWatch;
import dev.verbena.dart.store.InboundStream;
import dev.verbena.dart.store.RankEntry;
import dev.verbena.dart.wire.ClientNotice;
import dev.verbena.dart.wire.FrameFlyweight;
import java.io.IOException;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Handlers of users that throw what is no {@link RuntimeException}: an assertion that does not
 * hold, a class that is not there, a checked exception in disguise. Nothing may wait for ever.
 */
@Timeout(120)
class DartHandlerErrorTest {
    private static final int KINDS = 5;

    private static Throwable kind(int number) {
        return switch (number % KINDS) {
            case 0 -> new AssertionError("does not hold");
            case 1 -> new NoClassDefFoundError("org/example/Gone");
            case 2 -> new IOException("in disguise");
            case 3 -> new Error("of a kind of its own");
            default -> new IllegalStateException("as usual");
        };
    }

    @SuppressWarnings("unchecked")
    private static <T extends Throwable> void fail(int number) throws T {
        throw (T) kind(number);
    }

    @Test
    void shouldConfirmAMessageWhoseHandlerThrewAnythingAndGoOn() throws Exception {
        try (DartWorld world = new DartWorld("shm")) {
            AtomicInteger calls = new AtomicInteger();
            world.receive(
                    world.receiverContext()
                            .handler(
                                    message -> {
                                        if (calls.incrementAndGet() <= KINDS) {
                                            DartHandlerErrorTest.<RuntimeException>fail(
                                                    message.tag());
                                        }
                                    }));
            world.master();
            DartClient client = world.client(0);
            List<DartTicket> tickets = new ArrayList<>();
            for (int i = 0; i <= KINDS; i++) {
                tickets.add(client.sendCopy(DartWorld.bytes(100, i), 0, 100, null, i));
            }
            for (DartTicket ticket : tickets) {
                ticket.await(TicketState.STREAMED, DartWorld.LIMIT_NS);
            }
            assertThat(calls.get()).isEqualTo(KINDS + 1);
            ReceiverStatistics statistics = world.receiver.statistics();
            assertThat(statistics.handlerErrorCount()).isEqualTo(KINDS);
            assertThat(statistics.messageCount()).isEqualTo(KINDS + 1);
            assertThat(world.errors).hasSize(KINDS);
            assertThat(world.receiver.failure()).isNull();
        }
    }

    @Test
    void shouldSkipAStepWhoseHandlerThrewAnything() throws Exception {
        try (DartWorld world = new DartWorld("shm")) {
            AtomicInteger calls = new AtomicInteger();
            DartStepContext steps =
                    new DartStepContext(
                                    step -> {
                                        calls.incrementAndGet();
                                        DartHandlerErrorTest.<RuntimeException>fail(
                                                (int) step.step());
                                    })
                            .rankCount(1)
                            .acknowledgeWhenHandled(true);
            world.receive(new DartReceiver.Context().environment(world.environment).steps(steps));
            world.master();
            DartClient client = world.client(0);
            DartTicket ticket = null;
            for (int step = 0; step < KINDS; step++) {
                DartMetadata metadata =
                        new DartMetadata().variable("v").step(step).rank(0).endOfStep(true);
                ticket = client.sendCopy(DartWorld.bytes(100, step), 0, 100, metadata, 0);
            }
            ticket.await(TicketState.STREAMED, DartWorld.LIMIT_NS);
            Await.until(
                    "all counted", () -> world.receiver.stepStatistics().completeCount() == KINDS);
            assertThat(calls.get()).isEqualTo(KINDS);
            assertThat(world.receiver.stepStatistics().handlerErrorCount()).isEqualTo(KINDS);
            assertThat(world.errors).hasSize(KINDS);
        }
    }

    @Test
    void shouldAnswerACommandWhoseHandlerThrewAnything() throws Exception {
        try (DartWorld world = new DartWorld("shm").receive()) {
            world.master(
                    c -> {
                        for (int i = 0; i < KINDS; i++) {
                            int number = i;
                            c.commandHandler(
                                    i,
                                    (command, reply) -> {
                                        DartHandlerErrorTest.<RuntimeException>fail(number);
                                        return 0;
                                    });
                        }
                        c.commandHandler(
                                KINDS,
                                (command, reply) -> {
                                    reply.putByte(0, (byte) 42);
                                    return 1;
                                });
                    });
            DartClient client = world.client(0);
            for (int i = 0; i < KINDS; i++) {
                int number = i;
                assertThat(client.command(KINDS)).containsExactly(42);
                assertThatThrownBy(() -> client.command(number))
                        .hasMessageContaining(kind(number).getMessage())
                        .isInstanceOfSatisfying(
                                DartException.class,
                                e ->
                                        assertThat(e.code())
                                                .isEqualTo(DartException.Code.COMMAND_FAILED));
            }
            assertThat(client.command(KINDS)).containsExactly(42);
            assertThat(world.errors).hasSize(KINDS);
        }
    }

    @Test
    @Tag("dart-F6")
    void shouldTellOfTheNextLossAfterAHandlerThrewAnything() {
        WireEnvironment wire = new WireEnvironment();
        UUID job = new UUID(5, 6);
        InboundStream stream = new InboundStream(job, 0, false);
        List<Integer> told = new ArrayList<>();
        RankWatch watch =
                new RankWatch(
                        wire,
                        (application, rank, client) -> {
                            told.add(rank);
                            DartHandlerErrorTest.<RuntimeException>fail(rank);
                        },
                        null,
                        List.of(stream));
        FrameFlyweight frame = new FrameFlyweight();
        UnsafeBuffer payload = new UnsafeBuffer(new byte[ClientNotice.LENGTH]);
        for (int rank = 0; rank < KINDS; rank++) {
            payload.putInt(4, rank, ByteOrder.BIG_ENDIAN);
            frame.begin(new UnsafeBuffer(new byte[FrameFlyweight.LENGTH]), 0, FrameFlyweight.DATA)
                    .flags(FrameFlyweight.CLIENT_LOST)
                    .sequence(1)
                    .message(rank + 1, 1, 0, 0)
                    .end(payload, 0, ClientNotice.LENGTH);
            watch.onNotice(stream, frame, payload, wire.clock.nanoTime());
        }
        wire.clock.advanceNs(2 * RankWatch.GRACE_NS);
        watch.doWork(wire.clock.nanoTime());
        assertThat(told).containsExactly(0, 1, 2, 3, 4);
        assertThat(watch.isAnyUntold()).isFalse();
        assertThat(watch.entries()).allMatch(entry -> entry.state() == RankEntry.TOLD);
    }
}
