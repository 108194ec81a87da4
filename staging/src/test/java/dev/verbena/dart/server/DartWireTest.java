package dev.verbena.dart.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.AllocationMeter;
import dev.verbena.agent.AgentStepper;
import dev.verbena.dart.DartMessage;
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
import java.util.function.BooleanSupplier;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** t3 and a receiver in virtual time, over streams that fail at a chosen byte. */
@Timeout(120)
public class DartWireTest {
    private static final long SECOND = 1_000_000_000L;
    private static final int STEPS_MAX = 20_000;
    private static final int LENGTH = 300;
    private static final byte[] SECRET = new byte[20];
    private static final int FRAME = 1024;

    /** A server's streaming half and a receiver, joined by a wire. */
    private static final class Bench implements AutoCloseable {
        final WireEnvironment wire = new WireEnvironment();
        final List<String> received = new ArrayList<>();
        final DartReceiver receiver;
        final ServerShared shared;
        final StreamAgent t3;
        final AgentStepper both;
        final AgentStepper serverOnly;
        private final int bufferSize;
        private final List<ServerBuffer> free = new ArrayList<>();
        private int sent;

        Bench(int bufferCount, int bufferSize) {
            this(bufferCount, bufferSize, Math.min(bufferSize, 256 * 1024), null);
        }

        Bench(int bufferCount, int bufferSize, int framePayloadMax, byte[] secret) {
            this.bufferSize = bufferSize;
            DartReceiver.Context receiving =
                    new DartReceiver.Context()
                            .environment(wire)
                            .windowMax(1 << 20)
                            .handler(this::onMessage);
            DartServer.Context context =
                    new DartServer.Context()
                            .environment(wire)
                            .configurationFile("none")
                            .receiver("wire", 7000)
                            .bufferCount(bufferCount)
                            .bufferSize(bufferSize)
                            .framePayloadMax(framePayloadMax);
            if (secret != null) {
                receiving.secret(secret);
                context.secret(secret);
            }
            receiver = DartReceiver.embed(receiving);
            shared = new ServerShared(Settings.of(context));
            shared.identify(new UUID(1, 2), 0, 0);
            t3 = new StreamAgent(shared);
            both = new AgentStepper(List.of(t3, receiver.agent()), wire.clock, wire.errorHandler());
            serverOnly = new AgentStepper(List.of(t3), wire.clock, wire.errorHandler());
            for (int i = 0; i < bufferCount; i++) {
                free.add(new ServerBuffer(i, 0, new UnsafeBuffer(new byte[bufferSize])));
            }
        }

        private void onMessage(DartMessage message) {
            byte[] bytes = new byte[message.length()];
            message.buffer().getBytes(message.offset(), bytes);
            boolean isEqual =
                    java.util.Arrays.equals(
                            bytes, DartWorld.bytes(bytes.length, message.tag()).byteArray());
            received.add(message.tag() + (isEqual ? "" : " differs"));
        }

        /** A message of one part, as t2 hands it over. */
        void send(int length) {
            ServerBuffer buffer = free.remove(0);
            int tag = ++sent;
            int block =
                    new DartMetadata()
                            .name("m" + tag)
                            .payload(length, false, 0)
                            .encode(buffer.window(), 0);
            buffer.window().putBytes(block, DartWorld.bytes(length, tag), 0, length);
            buffer.beginPull(0, block, length, 0);
            buffer.owned(0, 0, 1, tag - 1);
            buffer.describe(tag, tag, 0, length);
            buffer.flagged(FrameFlyweight.FIRST | FrameFlyweight.LAST);
            assertThat(block + length).isLessThanOrEqualTo(bufferSize);
            assertThat(shared.full.offer(buffer)).isTrue();
        }

        void until(String what, BooleanSupplier condition) {
            assertThat(both.runUntil(condition, STEPS_MAX))
                    .as("%s; %s, %s, %s", what, received, receiver.statistics(), wire.errors)
                    .isTrue();
        }

        /** Three messages of a frame each, and the farewell. */
        Bench exchange() {
            for (int i = 0; i < 3; i++) {
                send(LENGTH);
            }
            shared.drained();
            until("farewell", () -> shared.isFinished);
            return this;
        }

        @Override
        public void close() {
            both.close();
        }
    }

    private static long[] bytesOfAnExchange(byte[] secret) {
        try (Bench bench = new Bench(4, 8192, 8192, secret)) {
            return bench.exchange().wire.carried.clone();
        }
    }

    @Test
    @Tag("dart-D34")
    @Tag("dart-D40")
    void shouldDeliverEachByteOnceWhereverTheConnectionIsCut() {
        cutEverywhere(null);
    }

    @Test
    @Tag("dart-D34")
    void shouldDeliverEachByteOnceWhereverAConnectionWithASecretIsCut() {
        cutEverywhere(SECRET);
    }

    private static void cutEverywhere(byte[] secret) {
        long[] bytes = bytesOfAnExchange(secret);
        for (int direction : new int[] {WireEnvironment.THERE, WireEnvironment.BACK}) {
            for (long at = 1; at <= bytes[direction]; at++) {
                try (Bench bench = new Bench(4, 8192, 8192, secret)) {
                    bench.wire.cutAt[direction] = at;
                    bench.exchange();
                    assertThat(bench.received)
                            .as("cut in direction %d after %d bytes", direction, at)
                            .containsExactly("1", "2", "3");
                    assertThat(bench.receiver.statistics().finishedCount()).isEqualTo(1);
                }
            }
        }
    }

    @Test
    @Tag("dart-D35")
    void shouldSendAgainWhicheverByteIsDamaged() {
        damageEverywhere(null);
    }

    @Test
    @Tag("dart-D35")
    void shouldSendAgainWhicheverByteIsDamagedWhenASecretIsShared() {
        damageEverywhere(SECRET);
    }

    private static void damageEverywhere(byte[] secret) {
        long bytes = bytesOfAnExchange(secret)[WireEnvironment.THERE];
        for (long at = 0; at < bytes; at++) {
            try (Bench bench = new Bench(4, 8192, 8192, secret)) {
                bench.wire.flipAt[WireEnvironment.THERE] = at;
                bench.exchange();
                assertThat(bench.received).as("byte %d", at).containsExactly("1", "2", "3");
            }
        }
    }

    @Test
    @Tag("dart-D35")
    void shouldLeaveWhatHasArrivedAloneWhicheverBitOfALaterHeaderIsDamaged() {
        int frame = FrameFlyweight.LENGTH + FRAME;
        for (int bit = 1; bit <= 128; bit <<= 1) {
            // All but the payload's length: with a longer one it waits for more to come.
            for (int at = 0; at < 40; at++) {
                try (Bench bench = new Bench(4, 4 * FRAME, FRAME, null)) {
                    bench.wire.flipBits = bit;
                    // Greeting, three frames of the message, then the header of the fourth.
                    bench.wire.flipAt[WireEnvironment.THERE] =
                            FrameFlyweight.LENGTH + FrameFlyweight.HELLO_LENGTH + 3 * frame + at;
                    bench.send(4 * FRAME - DartMetadata.LENGTH_MAX / 2);
                    bench.send(LENGTH);
                    bench.until("both", () -> bench.received.size() == 2);
                    assertThat(bench.received).as("bit %d, byte %d", bit, at).contains("1", "2");
                }
            }
        }
    }

    @Test
    @Tag("dart-D35")
    void shouldCloseWhenAFrameIsDamagedThreeTimesInARow() {
        try (Bench bench = new Bench(4, 8192)) {
            bench.wire.isDamagingPayloads = true;
            bench.send(LENGTH);
            bench.until("closed", () -> bench.receiver.statistics().protocolErrorCount() == 1);
            assertThat(bench.receiver.statistics().corruptFrameCount()).isEqualTo(3);
            assertThat(bench.received).isEmpty();
            bench.wire.isDamagingPayloads = false;
            bench.until("delivered", () -> bench.received.size() == 1);
        }
    }

    @Test
    @Tag("dart-D36")
    void shouldNotExceedTheWindowWhenReceiverIsPaused() {
        int length = 200_000;
        try (Bench bench = new Bench(16, 256 * 1024)) {
            bench.send(100);
            bench.until("connected", () -> bench.received.size() == 1);
            long before = bench.wire.carried[WireEnvironment.THERE];
            for (int i = 0; i < 15; i++) {
                bench.send(length);
            }
            for (int i = 0; i < 1000; i++) {
                bench.serverOnly.step();
            }
            long unacknowledged = bench.wire.carried[WireEnvironment.THERE] - before;
            assertThat(unacknowledged)
                    .isGreaterThan(4L * length)
                    .isLessThanOrEqualTo((1 << 20) + 16 * FrameFlyweight.LENGTH);
            // The heap is flat.
            AllocationMeter.requireNone(() -> steps(bench));
            bench.until("all", () -> bench.received.size() == 16);
            assertThat(bench.received).noneMatch(text -> text.contains("differs"));
        }
    }

    private static void steps(Bench bench) {
        for (int i = 0; i < 100_000; i++) {
            bench.t3.doWork();
        }
    }

    @Test
    @Tag("dart-D38")
    void shouldNoticeSilenceOnBothSides() {
        for (int direction : new int[] {WireEnvironment.THERE, WireEnvironment.BACK}) {
            try (Bench bench = new Bench(4, 8192)) {
                bench.send(LENGTH);
                bench.until("delivered", () -> bench.received.size() == 1);
                // Idle, both sides say something every 2 s: nobody gives up.
                long idle = bench.wire.clock.nanoTime();
                bench.until("time", () -> bench.wire.clock.nanoTime() - idle > 60 * SECOND);
                assertThat(bench.wire.errors).isEmpty();
                bench.wire.isSwallowing[direction] = true;
                long since = bench.wire.clock.nanoTime();
                bench.until(
                        "noticed",
                        () ->
                                direction == WireEnvironment.THERE
                                        ? bench.receiver.statistics().openCount() == 0
                                        : !bench.wire.errors.isEmpty());
                assertThat(bench.wire.clock.nanoTime() - since).isBetween(8 * SECOND, 12 * SECOND);
                bench.wire.isSwallowing[direction] = false;
                bench.send(LENGTH);
                bench.until("goes on", () -> bench.received.size() == 2);
            }
        }
    }
}
