package dev.verbena.dart.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.dart.wire.FrameFlyweight;
import java.util.List;
import java.util.stream.IntStream;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Spilled files that are damaged, torn, or cannot be read for a while. */
@Timeout(120)
class DartSpillDamageTest extends SpillingServers {
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
        // t1 gets the report, and counts it as confirmed nowhere.
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
        int restAt = one.offsets.get(9);
        UnsafeBuffer bytes = new UnsafeBuffer(wire.disk.content(file));
        long next = new FrameFlyweight().wrap(bytes, restAt).sequence();
        // As its server would have called a file that begins there.
        String later = file.replaceFirst("-[0-9]{19}-000001", "-%019d-000002".formatted(next));
        wire.disk.tear(file, one.offsets.get(8) + 100, restAt, isLast ? "" : later);
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
}
