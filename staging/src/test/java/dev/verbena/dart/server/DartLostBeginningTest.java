package dev.verbena.dart.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.agent.AgentStepper;
import dev.verbena.dart.AckMode;
import dev.verbena.dart.DartMetadata;
import dev.verbena.dart.DartReceiver;
import dev.verbena.dart.DartServer;
import dev.verbena.dart.DartWorld;
import dev.verbena.dart.Settings;
import dev.verbena.dart.WireEnvironment;
import dev.verbena.dart.stream.ServerBuffer;
import dev.verbena.dart.wire.ControlFlyweight;
import dev.verbena.dart.wire.FrameFlyweight;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.function.BooleanSupplier;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A receiver that keeps nothing ends with the beginning of a message, and the next one goes on
 * behind the gap: nobody will ever have the message, so it must not count as confirmed. Virtual
 * time.
 */
@Timeout(60)
class DartLostBeginningTest {
    private static final int STEPS_MAX = 20_000;
    private static final int PART = 3000;

    private final WireEnvironment wire = new WireEnvironment();
    private final List<Integer> received = new ArrayList<>();

    private ServerShared shared(AckMode ack) {
        ServerShared made =
                new ServerShared(
                        Settings.of(
                                new DartServer.Context()
                                        .environment(wire)
                                        .configurationFile("none")
                                        .receiver("wire", 7000)
                                        .bufferCount(4)
                                        .bufferSize(64 * 1024)
                                        .framePayloadMax(1024)
                                        .ack(ack)));
        made.identify(new UUID(1, 2), 0, 0);
        return made;
    }

    private DartReceiver receiver(String directory) {
        return DartReceiver.embed(
                new DartReceiver.Context()
                        .environment(wire)
                        .directory(directory)
                        .acceptGaps(true)
                        .handler(message -> received.add(message.tag())));
    }

    /** Part {@code i} of {@code count} of a message of one client. */
    private static ServerBuffer part(int client, int number, long ordinal, int i, int count) {
        ServerBuffer part = new ServerBuffer(0, 0, new UnsafeBuffer(new byte[64 * 1024]));
        UnsafeBuffer all = new UnsafeBuffer(new byte[DartMetadata.LENGTH_MAX + count * PART]);
        int block = new DartMetadata().payload(count * PART, false, 0).encode(all, 0);
        all.putBytes(block, DartWorld.bytes(count * PART, number), 0, count * PART);
        long position = i == 0 ? 0 : block + i * PART;
        part.beginPull(0, i == 0 ? block : 0, PART, 0);
        part.owned(client, 0, client, ordinal);
        part.describe(number, number, position, PART);
        part.flagged(
                (i == 0 ? FrameFlyweight.FIRST : 0) | (i == count - 1 ? FrameFlyweight.LAST : 0));
        part.window().putBytes(0, all, (int) position, part.length());
        return part;
    }

    private void run(DartReceiver receiver, StreamAgent t3, BooleanSupplier condition) {
        AgentStepper both =
                new AgentStepper(List.of(t3, receiver.agent()), wire.clock, wire.errorHandler());
        assertThat(both.runUntil(condition, STEPS_MAX)).as("errors: %s", wire.errors).isTrue();
    }

    @ParameterizedTest
    @EnumSource(AckMode.class)
    @Tag("dart-S4")
    void shouldNotConfirmAMessageWhoseBeginningEndedWithAReceiver(AckMode ack) {
        ServerShared shared = shared(ack);
        StreamAgent t3 = new StreamAgent(shared);
        List<ServerBuffer> free = new ArrayList<>();
        try {
            ServerBuffer first = part(1, 1, 0, 0, 3);
            ServerBuffer last = part(1, 1, 2, 2, 3);
            try (DartReceiver receiver = receiver("")) {
                shared.full.offer(first);
                run(receiver, t3, () -> shared.empty.peek() == first);
            }
            wire.cut();
            try (DartReceiver receiver = receiver("")) {
                shared.full.offer(part(1, 1, 1, 1, 3));
                shared.full.offer(last);
                run(receiver, t3, () -> hasReport("its beginning is gone"));
                // Of another client, and of the same one behind it: both are whole.
                shared.full.offer(part(2, 3, 0, 0, 1));
                run(receiver, t3, () -> received.contains(3));
                run(receiver, t3, () -> shared.empty.drain(free::add) >= 0 && free.size() == 4);
                shared.full.offer(part(1, 2, 3, 0, 1));
                run(receiver, t3, () -> received.contains(2));
                assertThat(received).containsExactly(3, 2);
            }
            if (ack != AckMode.NONE) {
                assertThat(last.isDropped()).as("not confirmed").isTrue();
                ServerBuffer lost = shared.losses.poll();
                assertThat(lost.sequence()).isEqualTo(1);
                assertThat(lost.lostResult()).isEqualTo(ControlFlyweight.RESULT_BEGINNING_LOST);
                assertThat(shared.losses.poll()).isNull();
                assertThat(hasReport("message 1 of client 1 is lost: the receiver")).isTrue();
            }
        } finally {
            t3.onClose();
        }
    }

    /**
     * Only what is held of the dead registration is left out, however much of the other is here.
     */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldTakeAMessageAgainOfWhichItLeftOutTheHalf(boolean isSentAtOnce) {
        wire.disk.failing = "-1-1-";
        wire.disk.failures = Integer.MAX_VALUE;
        ServerShared shared = shared(AckMode.DURABLE);
        StreamAgent t3 = new StreamAgent(shared);
        List<ServerBuffer> free = new ArrayList<>();
        ServerBuffer[] again = {
            part(1, 1, 0, 0, 3), part(1, 1, 1, 1, 3), part(1, 1, 2, 2, 3), part(1, 2, 3, 0, 1)
        };
        try (DartReceiver receiver = receiver("out")) {
            shared.full.offer(part(1, 1, 0, 0, 3));
            shared.full.offer(part(1, 1, 1, 1, 3));
            run(receiver, t3, () -> hasReport("cannot be stored"));
            shared.givenUp.offer(new GivenUp(1, 0, 1, 2));
            shared.full.offer(part(2, 3, 0, 0, 1));
            if (isSentAtOnce) {
                again[0].owned(3, again[0].generation(), again[0].clientId(), again[0].ordinal());
                shared.full.offer(again[0]);
            }
            run(receiver, t3, () -> received.contains(3));
            if (!isSentAtOnce) {
                run(receiver, t3, () -> shared.empty.drain(free::add) >= 0 && free.size() == 3);
                ServerBuffer end = part(1, 1, 2, 2, 3);
                end.pullEnded(ServerBuffer.FAILED, 0);
                shared.full.offer(end);
                again[0].owned(3, again[0].generation(), again[0].clientId(), again[0].ordinal());
                shared.full.offer(again[0]);
            }
            wire.disk.failures = 0;
            for (int i = 1; i < again.length; i++) {
                again[i].owned(3, again[i].generation(), again[i].clientId(), again[i].ordinal());
                shared.full.offer(again[i]);
                run(receiver, t3, () -> shared.full.isEmpty());
            }
            run(receiver, t3, () -> shared.empty.drain(free::add) >= 0 && free.contains(again[3]));
            assertThat(received).containsExactly(3, 1, 2);
            assertThat(again).noneMatch(part -> part.isDropped());
            assertThat(free.subList(0, 2)).allMatch(part -> part.isDropped() != isSentAtOnce);
        } finally {
            t3.onClose();
        }
    }

    private boolean hasReport(String text) {
        return wire.errors.stream().anyMatch(e -> e.getMessage().contains(text));
    }
}
