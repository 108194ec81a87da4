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
import dev.verbena.dart.wire.FrameFlyweight;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A server that keeps nothing until it is acknowledged, when the connection breaks. Virtual time.
 */
@Timeout(60)
class DartAckNoneTest {
    private static final int STEPS_MAX = 20_000;
    private static final int LENGTH = 1000;

    private final WireEnvironment wire = new WireEnvironment();
    private final List<Integer> received = new ArrayList<>();
    private final List<ServerBuffer> free = new ArrayList<>();
    private final ServerShared shared = shared();
    private final StreamAgent t3 = new StreamAgent(shared);
    private int sent;

    private ServerShared shared() {
        ServerShared made =
                new ServerShared(
                        Settings.of(
                                new DartServer.Context()
                                        .environment(wire)
                                        .configurationFile("none")
                                        .receiver("wire", 7000)
                                        .bufferCount(3)
                                        .bufferSize(64 * 1024)
                                        .framePayloadMax(8192)
                                        .ack(AckMode.NONE)));
        made.identify(new UUID(1, 2), 0, 0);
        for (int i = 0; i < 3; i++) {
            free.add(new ServerBuffer(i, 0, new UnsafeBuffer(new byte[64 * 1024])));
        }
        return made;
    }

    private void send(AgentStepper stepper) {
        stepper.runUntil(() -> takeBack() > 0, STEPS_MAX);
        ServerBuffer buffer = free.remove(0);
        int tag = ++sent;
        int block =
                new DartMetadata()
                        .name("m" + tag)
                        .payload(LENGTH, false, 0)
                        .encode(buffer.window(), 0);
        buffer.window().putBytes(block, DartWorld.bytes(LENGTH, tag), 0, LENGTH);
        buffer.beginPull(0, block, LENGTH, 0);
        buffer.owned(0, 0, 1, tag - 1);
        buffer.describe(tag, tag, 0, LENGTH);
        buffer.flagged(FrameFlyweight.FIRST | FrameFlyweight.LAST);
        assertThat(shared.full.offer(buffer)).isTrue();
    }

    private int takeBack() {
        ServerBuffer buffer;
        while ((buffer = shared.empty.poll()) != null) {
            free.add(buffer);
        }
        return free.size();
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    @Tag("dart-S3")
    @Tag("dart-S4")
    void shouldGoOnBehindWhatABrokenConnectionLostOnlyWhenGapsAreAccepted(boolean isAccepted) {
        try (DartReceiver receiver =
                DartReceiver.embed(
                        new DartReceiver.Context()
                                .environment(wire)
                                .acceptGaps(isAccepted)
                                .handler(message -> received.add(message.tag())))) {
            AgentStepper alone = new AgentStepper(List.of(t3), wire.clock, wire.errorHandler());
            AgentStepper both =
                    new AgentStepper(
                            List.of(t3, receiver.agent()), wire.clock, wire.errorHandler());
            for (int i = 0; i < 3; i++) {
                send(both);
            }
            assertThat(both.runUntil(() -> received.size() == 3, STEPS_MAX)).isTrue();
            wire.isSwallowing[WireEnvironment.THERE] = true;
            for (int i = 0; i < 2; i++) {
                send(alone);
            }
            // Written, and lost on the way: the buffers are free again.
            assertThat(alone.runUntil(() -> takeBack() == 3, STEPS_MAX)).isTrue();
            wire.isSwallowing[WireEnvironment.THERE] = false;
            wire.cut();
            for (int i = 0; i < 3; i++) {
                send(both);
            }
            String reason = "tell it to accept the gap";
            both.runUntil(() -> isAccepted ? received.size() == 6 : hasReport(reason), STEPS_MAX);
            for (int i = 0; i < 1000; i++) {
                both.step();
            }
            if (isAccepted) {
                assertThat(received).containsExactly(1, 2, 3, 6, 7, 8);
            } else {
                assertThat(received).containsExactly(1, 2, 3);
                assertThat(hasReport(reason)).isTrue();
            }
        } finally {
            t3.onClose();
        }
    }

    private boolean hasReport(String text) {
        return wire.errors.stream().anyMatch(e -> e.getMessage().contains(text));
    }
}
