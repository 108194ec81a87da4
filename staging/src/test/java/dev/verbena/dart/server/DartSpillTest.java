package dev.verbena.dart.server;

import static java.nio.ByteOrder.BIG_ENDIAN;
import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.agent.AgentStepper;
import dev.verbena.dart.DartMessage;
import dev.verbena.dart.DartMetadata;
import dev.verbena.dart.DartReceiver;
import dev.verbena.dart.DartServer;
import dev.verbena.dart.DartWorld;
import dev.verbena.dart.Settings;
import dev.verbena.dart.WireEnvironment;
import dev.verbena.dart.stream.ServerBuffer;
import dev.verbena.dart.wire.ClientNotice;
import dev.verbena.dart.wire.FrameFlyweight;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.UUID;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What t3 spills, in virtual time: a receiver that goes and comes, disks, power failures. */
@Timeout(120)
class DartSpillTest {
    private static final int STEPS_MAX = 50_000;
    private static final int BUFFERS = 3;
    private static final int BUFFER_SIZE = 64 * 1024;
    private static final int FRAME = 8192;

    private final WireEnvironment wire = new WireEnvironment();
    private final List<Integer> received = new ArrayList<>();
    private final List<String> lostRanks = new ArrayList<>();
    private final DartReceiver receiver =
            DartReceiver.embed(
                    new DartReceiver.Context()
                            .environment(wire)
                            .windowMax(1 << 20)
                            .lostHandler(
                                    (application, rank, client) ->
                                            lostRanks.add(application + "/" + rank + "/" + client))
                            .handler(this::onMessage));
    private final AgentStepper receiving =
            new AgentStepper(List.of(receiver.agent()), wire.clock, wire.errorHandler());
    private Server server;
    private int sent;

    /** A server's streaming half. */
    private final class Server {
        final ServerShared shared;
        final StreamAgent t3;
        final AgentStepper stepper;
        final AgentStepper both;
        final List<ServerBuffer> free = new ArrayList<>();
        final List<Integer> promised = new ArrayList<>();

        /** What t1 would tell the process. */
        final List<Integer> confirmed = new ArrayList<>();

        final List<Integer> lost = new ArrayList<>();

        /** Where messages begin in a file that holds all of them. */
        final List<Integer> offsets = new ArrayList<>();

        int written;
        int ordinal;

        Server(int run, long limit) {
            shared =
                    new ServerShared(
                            Settings.of(
                                    new DartServer.Context()
                                            .environment(wire)
                                            .configurationFile("none")
                                            .receiver("wire", 7000)
                                            .bufferCount(BUFFERS)
                                            .bufferSize(BUFFER_SIZE)
                                            .framePayloadMax(FRAME)
                                            .spill("spill", limit)));
            shared.identify(new UUID(1, run), 0, 0);
            t3 = new StreamAgent(shared);
            stepper = new AgentStepper(List.of(t3), wire.clock, wire.errorHandler());
            both = new AgentStepper(List.of(t3, receiver.agent()), wire.clock, wire.errorHandler());
            for (int i = 0; i < BUFFERS; i++) {
                free.add(new ServerBuffer(i, 0, new UnsafeBuffer(new byte[BUFFER_SIZE])));
            }
        }

        /** A message of one part, as t2 hands it over; its tag. */
        void send(int length) {
            until(this, "an empty buffer", () -> !free.isEmpty());
            ServerBuffer buffer = free.remove(0);
            int tag = ++sent;
            int block =
                    new DartMetadata()
                            .name("m" + tag)
                            .payload(length, false, 0)
                            .encode(buffer.window(), 0);
            buffer.window().putBytes(block, DartWorld.bytes(length, tag), 0, length);
            buffer.beginPull(0, block, length, 0);
            buffer.owned(0, 0, 1, ordinal++);
            buffer.describe(tag, tag, 0, length);
            buffer.flagged(FrameFlyweight.FIRST | FrameFlyweight.LAST);
            offsets.add(written);
            written +=
                    buffer.length() + (buffer.length() + FRAME - 1) / FRAME * FrameFlyweight.LENGTH;
            assertThat(shared.full.offer(buffer)).isTrue();
        }

        /** Says that the process of this client was lost. */
        void sayLost(int client, int rank) {
            until(this, "an empty buffer", () -> !free.isEmpty());
            ServerBuffer buffer = free.remove(0);
            buffer.window().putInt(0, 0, BIG_ENDIAN);
            buffer.window().putInt(4, rank, BIG_ENDIAN);
            buffer.window().putInt(8, 0, BIG_ENDIAN);
            buffer.beginPull(0, ClientNotice.LENGTH, 0, 0);
            buffer.owned(0, 0, client, ordinal++);
            buffer.describe(0, sent + 1, 0, 0);
            buffer.flagged(FrameFlyweight.CLIENT_LOST);
            assertThat(shared.full.offer(buffer)).isTrue();
        }

        void takeBack() {
            ServerBuffer buffer;
            while ((buffer = shared.empty.poll()) != null) {
                free.add(buffer);
                promised.add(buffer.tag());
            }
            while ((buffer = shared.replayed().poll()) != null) {
                confirmed.add(buffer.tag());
            }
            while ((buffer = shared.losses().poll()) != null) {
                lost.add(buffer.tag());
            }
        }
    }

    private void onMessage(DartMessage message) {
        byte[] bytes = new byte[message.length()];
        message.buffer().getBytes(message.offset(), bytes);
        assertThat(bytes).isEqualTo(DartWorld.bytes(bytes.length, message.tag()).byteArray());
        received.add(message.tag());
    }

    private void until(Server of, String what, BooleanSupplier condition) {
        boolean isReached =
                of.both.runUntil(
                        () -> {
                            of.takeBack();
                            return condition.getAsBoolean();
                        },
                        STEPS_MAX);
        assertThat(isReached)
                .as(
                        "%s; received %s, %s, errors %s",
                        what,
                        received,
                        of.shared.spillStatistics(),
                        wire.errors.subList(0, Math.min(8, wire.errors.size())))
                .isTrue();
    }

    private Server start(int run) {
        server = new Server(run, 1 << 26);
        return server;
    }

    private List<Integer> upTo(int last) {
        List<Integer> all = new ArrayList<>();
        for (int i = 1; i <= last; i++) {
            all.add(i);
        }
        return all;
    }

    @AfterEach
    void close() {
        receiving.close();
    }

    @Test
    @Tag("dart-F7")
    void shouldSpillWithoutReceiverAndReplayInOrderOnceItIsThere() {
        wire.isRefusing = true;
        Server one = start(1);
        for (int i = 0; i < 200; i++) {
            one.send(i % 7 == 0 ? 0 : 300 * i);
        }
        until(one, "all spilled", () -> one.free.size() == BUFFERS);
        assertThat(received).isEmpty();
        assertThat(one.shared.spillStatistics().messageCount()).isEqualTo(200);
        assertThat(one.shared.spillBytes().get()).isEqualTo(wire.disk.used());
        wire.isRefusing = false;
        until(one, "replayed", () -> received.size() == 200 && wire.disk.used() == 0);
        assertThat(received).isEqualTo(upTo(200));
        assertThat(one.shared.spillStatistics().replayedCount()).isEqualTo(200);
        assertThat(one.shared.spillStatistics().messageCount()).isZero();
        assertThat(one.shared.spillBytes().get()).isZero();
    }

    @Test
    @Tag("dart-F7")
    void shouldKeepOrderAndDeliverOnceWhenTheReceiverGoesAndComes() {
        for (int seed = 0; seed < 30; seed++) {
            SplittableRandom random = new SplittableRandom(seed);
            received.clear();
            sent = 0;
            wire.isRefusing = false;
            Server one = start(100 + seed);
            for (int i = 0; i < 120; i++) {
                one.send(random.nextInt(BUFFER_SIZE - 1000));
                if (random.nextInt(10) == 0) {
                    wire.isRefusing = random.nextBoolean();
                    wire.cut();
                }
                for (int steps = random.nextInt(6); steps > 0; steps--) {
                    one.both.step();
                    one.takeBack();
                }
                if (random.nextInt(8) == 0) {
                    wire.clock.advanceNs(random.nextLong(400_000_000L));
                }
            }
            wire.isRefusing = false;
            until(one, "seed " + seed, () -> received.size() >= 120 && wire.disk.used() == 0);
            assertThat(received).as("seed %d", seed).isEqualTo(upTo(120));
            until(one, "buffers", () -> one.free.size() == BUFFERS);
            one.t3.onClose();
        }
    }

    @Test
    @Tag("dart-F7")
    void shouldDeliverOnceWhatWasPromisedWhenThePowerFails() {
        for (int seed = 0; seed < 40; seed++) {
            SplittableRandom random = new SplittableRandom(seed);
            received.clear();
            sent = 0;
            wire.isRefusing = random.nextBoolean();
            // Files of a mebibyte: some runs leave several.
            Server one = new Server(2 * seed + 1000, 1 << 22);
            int count = 5 + random.nextInt(40);
            int away = random.nextInt(count);
            for (int i = 0; i < count; i++) {
                if (i == away) {
                    wire.isRefusing = true;
                    wire.cut();
                }
                one.send(random.nextInt(BUFFER_SIZE - 1000));
            }
            List<Integer> promised = List.copyOf(one.promised);
            wire.disk.failPower();
            wire.cut();
            wire.isRefusing = false;
            Server two = start(2 * seed + 1001);
            until(
                    two,
                    "seed " + seed + ", promised " + promised,
                    () -> received.containsAll(promised) && wire.disk.used() == 0);
            assertThat(received).as("seed %d", seed).doesNotHaveDuplicates().isSorted();
            two.t3.onClose();
        }
    }

    @Test
    @Tag("dart-F7")
    void shouldHoldBackWhenTheDiskIsFullAndLoseNothing() {
        wire.isRefusing = true;
        wire.disk.capacity = 300_000;
        Server one = start(5000);
        for (int i = 0; i < 9; i++) {
            one.send(40_000);
        }
        one.both.runUntil(
                () -> {
                    one.takeBack();
                    return one.shared.spillFailures().get() > 3;
                },
                STEPS_MAX);
        assertThat(one.free).as("%s", one.shared.spillStatistics()).isEmpty();
        assertThat(wire.errors)
                .filteredOn(e -> e.getMessage().contains("No space left"))
                .hasSize(1);
        wire.disk.capacity = Long.MAX_VALUE;
        until(one, "spilled after all", () -> one.free.size() == BUFFERS);
        wire.isRefusing = false;
        until(one, "replayed", () -> received.size() == 9 && wire.disk.used() == 0);
        assertThat(received).isEqualTo(upTo(9));
    }

    @Test
    @Tag("dart-F7")
    void shouldStayBelowTheLimit() {
        long limit = 1 << 20;
        wire.isRefusing = true;
        server = new Server(6000, limit);
        for (int i = 0; i < 18; i++) {
            server.send(50_000);
            assertThat(wire.disk.used()).isLessThanOrEqualTo(limit);
        }
        until(server, "spilled", () -> server.free.size() == BUFFERS);
        for (int i = 0; i < 10 && !server.free.isEmpty(); i++) {
            server.send(60_000);
            for (int steps = 0; steps < 100; steps++) {
                server.stepper.step();
                server.takeBack();
            }
        }
        long since = wire.clock.nanoTime();
        until(server, "time", () -> wire.clock.nanoTime() - since > 5_000_000_000L);
        assertThat(server.free).as("%d sent, %s", sent, server.shared.spillStatistics()).isEmpty();
        assertThat(wire.disk.used()).isBetween(limit - 70_000, limit);
        assertThat(wire.errors)
                .filteredOn(e -> e.getMessage().contains("the limit of 1048576 bytes"))
                .hasSize(1);
        wire.isRefusing = false;
        until(server, "replayed", () -> received.size() == sent && wire.disk.used() == 0);
        assertThat(received).isEqualTo(upTo(sent));
    }

    @Test
    @Tag("dart-F7")
    void shouldKeepWhatIsLeftForTheNextServerWhenStopped() {
        wire.isRefusing = true;
        Server one = start(7000);
        for (int i = 0; i < 20; i++) {
            one.send(10_000);
        }
        until(one, "all spilled", () -> one.free.size() == BUFFERS);
        one.shared.drained();
        until(one, "stopped", () -> one.shared.isFinished);
        one.t3.onClose();
        assertThat(wire.errors)
                .anyMatch(e -> e.getMessage().contains("kept 20 messages"))
                .noneMatch(e -> e.getMessage().contains("server closed before"));
        wire.isRefusing = false;
        Server two = start(7001);
        two.send(5);
        until(two, "delivered", () -> received.size() == 21 && wire.disk.used() == 0);
        assertThat(received).containsExactlyInAnyOrderElementsOf(upTo(21));
        assertThat(received.stream().filter(tag -> tag <= 20).toList()).isEqualTo(upTo(20));
        two.shared.drained();
        until(two, "finished", () -> two.shared.isFinished);
        assertThat(receiver.statistics().finishedCount()).isEqualTo(2);
    }

    @Test
    @Tag("dart-F7")
    void shouldNameAMessageWhoseFileIsDamagedAndDeliverTheRest() {
        wire.isRefusing = true;
        Server one = start(8000);
        for (int i = 0; i < 10; i++) {
            one.send(20_000);
        }
        until(one, "all spilled", () -> one.free.size() == BUFFERS);
        // In the second frame of the third message.
        wire.disk.flip(wire.disk.names(".frames").get(0), 2 * 20_500 + 10_000);
        wire.isRefusing = false;
        until(one, "the rest", () -> received.size() == 9 && wire.disk.used() == 0);
        assertThat(received).containsExactly(1, 2, 4, 5, 6, 7, 8, 9, 10);
        // t1 hears of it, and counts it as confirmed nowhere.
        assertThat(one.lost).containsExactly(3);
        assertThat(one.confirmed).containsExactly(1, 2, 4, 5, 6, 7, 8, 9, 10);
        assertThat(one.shared.spillStatistics().messageCount()).isZero();
        assertThat(one.shared.spillStatistics().replayedCount()).isEqualTo(9);
        assertThat(wire.errors)
                .anyMatch(
                        e ->
                                e.getMessage().contains("checksum is wrong")
                                        && e.getMessage().contains("message 3 of client 1"));
    }

    /** One byte of a frame's header is wrong in a file that a killed server left. */
    @ParameterizedTest
    @MethodSource("headerBytes")
    @Tag("dart-F7")
    void shouldKeepAndNameWhatFollowsADamagedHeader(int index) {
        wire.isRefusing = true;
        Server one = start(8400);
        for (int i = 0; i < 10; i++) {
            one.send(20_000);
        }
        until(one, "all spilled", () -> one.free.size() == BUFFERS);
        wire.disk.kill(false);
        String file = wire.disk.names(".frames").get(0);
        wire.disk.flip(file, one.offsets.get(2) + index);
        wire.isRefusing = false;
        Server two = start(8401);
        two.send(5);
        until(two, "the own", () -> received.contains(11));
        two.shared.drained();
        until(two, "finished", () -> two.shared.isFinished);
        two.t3.onClose();
        List<Integer> old = received.stream().filter(tag -> tag != 11).toList();
        assertThat(old).startsWith(1, 2).doesNotContain(3).isSorted().doesNotHaveDuplicates();
        assertThat(wire.disk.names(".frames")).isEmpty();
        if (old.size() == 9) {
            // The header told enough: only its message is lost, and it is named.
            assertThat(wire.disk.names(".damaged")).isEmpty();
            assertThat(wire.errors).anyMatch(e -> e.getMessage().contains("checksum is wrong"));
        } else {
            assertThat(wire.disk.names(".damaged")).hasSize(1);
            assertThat(wire.errors)
                    .anyMatch(
                            e ->
                                    e.getMessage().contains(" is damaged at byte ")
                                            && e.getMessage().contains("10 of client 1"));
        }
    }

    static IntStream headerBytes() {
        return IntStream.range(0, FrameFlyweight.LENGTH);
    }

    /** What is torn at the end was promised to nobody; before the end everything was. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    @Tag("dart-F7")
    void shouldKeepATornFileUnlessItIsTheLast(boolean isLast) {
        wire.isRefusing = true;
        Server one = start(8500);
        for (int i = 0; i < 10; i++) {
            one.send(20_000);
        }
        until(one, "all spilled", () -> one.free.size() == BUFFERS);
        wire.disk.kill(false);
        String file = wire.disk.names(".frames").get(0);
        String later = isLast ? "" : file.replace("-000001.frames", "-000002.frames");
        wire.disk.tear(file, one.offsets.get(8) + 100, one.offsets.get(9), later);
        wire.isRefusing = false;
        Server two = start(8501);
        two.send(5);
        until(two, "the own", () -> received.contains(11));
        two.shared.drained();
        until(two, "finished", () -> two.shared.isFinished);
        two.t3.onClose();
        assertThat(received).contains(1, 2, 3, 4, 5, 6, 7, 8).doesNotContain(9, 10);
        assertThat(wire.disk.names("")).hasSize(isLast ? 0 : 2);
        assertThat(wire.disk.names(".damaged")).hasSize(isLast ? 0 : 2);
    }

    @Test
    @Tag("dart-F7")
    void shouldReadAgainWhatCouldNotBeReadForAWhile() {
        wire.isRefusing = true;
        Server one = start(8200);
        for (int i = 0; i < 10; i++) {
            one.send(20_000);
        }
        until(one, "all spilled", () -> one.free.size() == BUFFERS);
        wire.disk.readFailures = 15;
        wire.isRefusing = false;
        until(one, "all", () -> received.size() == 10 && wire.disk.used() == 0);
        assertThat(received).isEqualTo(upTo(10));
        assertThat(one.lost).isEmpty();
        // For ever is another matter.
        wire.isRefusing = true;
        wire.cut();
        for (int i = 0; i < 3; i++) {
            one.send(100);
        }
        until(one, "spilled", () -> one.free.size() == BUFFERS);
        wire.disk.readFailures = 21;
        wire.isRefusing = false;
        until(one, "the rest", () -> received.size() == 12 && wire.disk.used() == 0);
        assertThat(one.lost).containsExactly(11);
    }

    @Test
    @Tag("dart-F7")
    void shouldLoseForGoodWhatCouldNotBeReadOnceThoughTheConnectionBreaks() {
        wire.isRefusing = true;
        Server one = start(8100);
        for (int i = 0; i < 150; i++) {
            one.send(20_000);
        }
        until(one, "all spilled", () -> one.free.size() == BUFFERS);
        String file = wire.disk.names(".frames").get(0);
        for (int i = 0; i < 150; i += 2) {
            wire.disk.flip(file, one.offsets.get(i) + 10_000);
        }
        wire.isRefusing = false;
        int[] known = new int[1];
        until(
                one,
                "everything or its loss",
                () -> {
                    if (one.lost.size() > known[0]) {
                        // It can be read again, but its process was told that it is lost.
                        int tag = one.lost.get(known[0]++);
                        wire.disk.flip(file, one.offsets.get(tag - 1) + 10_000);
                        wire.cut();
                    }
                    return received.size() + one.lost.size() >= 150 && wire.disk.used() == 0;
                });
        assertThat(one.lost).hasSize(75);
        assertThat(one.lost).doesNotHaveDuplicates().doesNotContainAnyElementsOf(received);
        assertThat(received).isSorted().doesNotHaveDuplicates();
        until(one, "told", () -> one.confirmed.size() == received.size());
        assertThat(one.confirmed).isEqualTo(received);
    }

    @Test
    @Tag("dart-F6")
    void shouldTellWhoWasLostAlthoughNothingOfTheFileCanBeRead() {
        wire.isRefusing = true;
        Server one = start(8300);
        one.send(20_000);
        one.sayLost(1, 7);
        until(one, "all spilled", () -> one.free.size() == BUFFERS);
        wire.disk.unreadable = ".frames";
        wire.isRefusing = false;
        until(one, "told", () -> !lostRanks.isEmpty());
        assertThat(lostRanks).containsExactly("0/7/1");
        assertThat(one.lost).containsExactly(1);
        wire.disk.unreadable = "";
    }

    @Test
    @Tag("dart-F7")
    void shouldSpillNothingWithoutALock() {
        wire.isRefusing = true;
        wire.disk.isLockless = true;
        Server one = start(8400);
        for (int i = 0; i < 9; i++) {
            one.send(40_000);
            if (i == 2) {
                // Every buffer is in use.
                one.both.runUntil(
                        () -> {
                            one.takeBack();
                            return one.shared.spillFailures().get() > 3;
                        },
                        STEPS_MAX);
                assertThat(one.free).as("%s", one.shared.spillStatistics()).isEmpty();
                assertThat(wire.disk.names(".frames")).isEmpty();
                assertThat(wire.errors)
                        .filteredOn(e -> e.getMessage().contains("cannot lock"))
                        .hasSize(1);
                wire.disk.isLockless = false;
            }
        }
        until(one, "spilled after all", () -> one.free.size() == BUFFERS);
        // Another server that cannot lock either leaves the files where they are.
        one.t3.onClose();
        wire.disk.isLockless = true;
        Server two = start(8401);
        wire.isRefusing = false;
        two.send(5);
        until(two, "its own", () -> received.contains(10));
        assertThat(received).containsExactly(10);
        assertThat(wire.errors).anyMatch(e -> e.getMessage().contains("not delivered by this"));
        two.t3.onClose();
        wire.disk.isLockless = false;
        Server three = start(8402);
        until(three, "all", () -> received.size() == 10 && wire.disk.used() == 0);
        assertThat(received.subList(1, 10)).isEqualTo(upTo(9));
    }

    @Test
    @Tag("dart-F7")
    void shouldSpillWhileTheReceiverIsSlowerThanTheBuffersAllow() {
        Server one = start(9000);
        one.send(100);
        until(one, "connected", () -> received.size() == 1 && one.free.size() == BUFFERS);
        // The receiver's end stands still, but is not dead.
        for (int i = 0; i < 3; i++) {
            one.send(60_000);
        }
        one.shared.parkedHeaders.set(1);
        boolean isSpilled =
                one.stepper.runUntil(
                        () -> {
                            one.takeBack();
                            return one.free.size() == BUFFERS;
                        },
                        STEPS_MAX);
        assertThat(isSpilled).as("%s", one.shared.spillStatistics()).isTrue();
        one.shared.parkedHeaders.set(0);
        until(one, "all", () -> received.size() == 4 && wire.disk.used() == 0);
        assertThat(received).isEqualTo(upTo(4));
    }
}
