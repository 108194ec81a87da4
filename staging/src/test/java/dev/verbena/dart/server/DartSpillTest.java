package dev.verbena.dart.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What t3 spills, in virtual time: a receiver that goes and comes, disks, power failures. */
@Timeout(120)
class DartSpillTest extends SpillingServers {
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
        assertThat(one.shared.spillBytes.get()).isEqualTo(wire.disk.used());
        wire.isRefusing = false;
        until(one, "replayed", () -> received.size() == 200 && wire.disk.used() == 0);
        assertThat(received).isEqualTo(upTo(200));
        assertThat(one.shared.spillStatistics().replayedCount()).isEqualTo(200);
        assertThat(one.shared.spillStatistics().messageCount()).isZero();
        assertThat(one.shared.spillBytes.get()).isZero();
    }

    /** More of it than what t3 hands to t1 has room for. */
    @Test
    @Tag("dart-F14")
    void shouldNotFinishBeforeT1HasWhatWasConfirmed() {
        wire.isRefusing = true;
        Server one = start(1);
        for (int i = 0; i < 1100; i++) {
            one.send(0);
        }
        until(one, "all spilled", () -> one.free.size() == BUFFERS);
        wire.isRefusing = false;
        one.shared.drained();
        one.both.runUntil(() -> one.shared.isFinished, STEPS_MAX);
        assertThat(received).hasSize(1100);
        assertThat(one.shared.isFinished).isFalse();
        until(one, "finished", () -> one.shared.isFinished);
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
                    return one.shared.spillFailures.get() > 3;
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
                            return one.shared.spillFailures.get() > 3;
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
