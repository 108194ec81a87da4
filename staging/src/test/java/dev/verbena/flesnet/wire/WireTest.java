package dev.verbena.flesnet.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.Fuzz;
import dev.verbena.flesnet.ComponentFlyweight;
import dev.verbena.flesnet.MicrosliceFlyweight;
import dev.verbena.staging.Checksum;
import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Records, assignment and liveness. */
@Timeout(60)
class WireTest {
    @Test
    @Tag("flesnet-1")
    void shouldEncodeAMicrosliceDescriptorInThirtyTwoBytes() {
        byte[] bytes = new byte[32];
        MicrosliceFlyweight one =
                new MicrosliceFlyweight()
                        .wrap(new UnsafeBuffer(bytes), 0)
                        .set(0x0102, 1, 0x10, 0x20, 0x1112131415161718L, 0x53518FAB, 5)
                        .contentOffset(0x2122232425262728L);
        assertThat(HexFormat.of().formatHex(bytes))
                .isEqualTo("dd010201010010201817161514131211ab8f5153050000002827262524232221");
        one.check();
        assertThat(one.equipment()).isEqualTo(0x0102);
        assertThat(one.index()).isEqualTo(0x1112131415161718L);
        assertThat(one.contentOffset()).isEqualTo(0x2122232425262728L);
        for (int at : new int[] {0, 1}) {
            byte[] wrong = bytes.clone();
            wrong[at] ^= 2;
            assertThatThrownBy(
                            () ->
                                    new MicrosliceFlyweight()
                                            .wrap(new UnsafeBuffer(wrong), 0)
                                            .check())
                    .isInstanceOf(IllegalArgumentException.class);
        }
    }

    @Test
    @Tag("flesnet-2")
    void shouldDetectAFlippedBitOnlyWhenTheChecksumIsSet() {
        Checksum checksum = new Checksum();
        byte[] five = {1, 2, 3, 4, 5};
        byte[] digits = "123456789".getBytes(StandardCharsets.US_ASCII);
        assertThat(checksum.of(new UnsafeBuffer(five), 0, 5)).isEqualTo(0x53518FAB);
        assertThat(checksum.of(new UnsafeBuffer(digits), 0, 9)).isEqualTo(0xE3069283);
        MicrosliceFlyweight one = new MicrosliceFlyweight().wrap(new UnsafeBuffer(new byte[32]), 0);
        one.set(0, MicrosliceFlyweight.CRC_VALID, 0, 0, 0, 0x53518FAB, 5);
        assertThat(one.isContentValid(0x53518FAB)).isTrue();
        five[2] ^= 8;
        int flipped = checksum.of(new UnsafeBuffer(five), 0, 5);
        assertThat(one.isContentValid(flipped)).isFalse();
        one.set(0, 0, 0, 0, 0, 0x53518FAB, 5);
        assertThat(one.isContentValid(flipped)).isTrue();
    }

    @Test
    @Tag("flesnet-19")
    void shouldAssignInTurnWhileNoNodeHasFailed() {
        Assignment assignment = new Assignment(5);
        for (long t = 0; t < 100; t++) {
            assertThat(assignment.node(t)).isEqualTo((int) (t % 5));
            assertThat(assignment.timeslice((int) (t % 5), t / 5)).isEqualTo(t);
        }
    }

    /** After failures every timeslice that is owed has one place, and every place one timeslice. */
    @Test
    @Tag("flesnet-46")
    void shouldAssignEveryTimesliceOnceAfterFailures() {
        Assignment assignment = new Assignment(5);
        assignment.fail(new int[] {1, 3}, new long[] {4, 6}, 52);
        assignment.fail(new int[] {0}, new long[] {14}, 70);
        assertThat(assignment.liveCount()).isEqualTo(2);
        Set<String> places = new HashSet<>();
        for (long t = 0; t < 400; t++) {
            int node = assignment.node(t);
            long descriptor = assignment.descriptor(t);
            assertThat(assignment.timeslice(node, descriptor)).isEqualTo(t);
            assertThat(places.add(node + "/" + descriptor)).isTrue();
            boolean isDone =
                    node == 1 && descriptor < 4
                            || node == 3 && descriptor < 6
                            || node == 0 && descriptor < 14;
            assertThat(assignment.isLive(node) || isDone).isTrue();
        }
        for (int node : new int[] {2, 4}) {
            long d = 0;
            while (places.contains(node + "/" + d)) {
                d++;
            }
            assertThat(d).as("no gap on node %s", node).isGreaterThan(100);
        }
        assertThatThrownBy(() -> assignment.fail(new int[] {2, 4}, new long[] {0, 0}, 100))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void shouldRefuseMessagesThatAreNone() {
        UnsafeBuffer buffer = new UnsafeBuffer(new byte[1024]);
        SyncFlyweight message = new SyncFlyweight();
        assertThatThrownBy(() -> message.wrap(buffer, 0, 15))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> message.wrap(buffer, 0, 100))
                .isInstanceOf(IllegalArgumentException.class);
        message.begin(buffer, 0, SyncFlyweight.WRITTEN, 3, 9).i32(16, 2);
        message.extend(2 * ComponentFlyweight.LENGTH);
        SyncFlyweight read = new SyncFlyweight().wrap(buffer, 0, message.length());
        assertThat(read.count(16, 10, ComponentFlyweight.LENGTH)).isEqualTo(2);
        assertThat(read.connection()).isEqualTo(3);
        assertThat(read.sequence()).isEqualTo(9);
        read.i32(16, 3);
        assertThatThrownBy(() -> read.count(16, 10, ComponentFlyweight.LENGTH))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void shouldBearWhateverBytesCome() {
        byte[] valid = new byte[200];
        SyncFlyweight message = new SyncFlyweight();
        message.begin(new UnsafeBuffer(valid), 0, SyncFlyweight.WRITTEN, 1, 1).i32(16, 1);
        new Fuzz("flesnet sync", List.of(valid), 1 << 20)
                .run(
                        input -> {
                            try {
                                SyncFlyweight read = new SyncFlyweight();
                                UnsafeBuffer buffer = new UnsafeBuffer(input);
                                read.wrap(buffer, 0, input.length);
                                read.count(16, 10, ComponentFlyweight.LENGTH);
                            } catch (IllegalArgumentException | IndexOutOfBoundsException e) {
                                // refused
                            }
                        });
    }

    @Test
    @Tag("flesnet-48")
    void shouldNotGiveAPeerUpForAShortSilence() {
        long second = 1_000_000_000L;
        PeerWatch watch = new PeerWatch(second, 0);
        long now = 0;
        for (int i = 0; i < 1000; i++) {
            now += second / 10;
            watch.heard(now);
            assertThat(watch.isDue(now)).isFalse();
        }
        // Five times as long as usual, then again as usual.
        for (int i = 0; i < 50; i++) {
            now += second / 2;
            assertThat(watch.isDue(now)).isFalse();
            assertThat(watch.isLost(now)).isFalse();
            watch.heard(now);
        }
        long silent = now;
        int asked = 0;
        while (!watch.isLost(now)) {
            now += second / 10;
            if (watch.isDue(now)) {
                watch.asked(now);
                asked++;
            }
        }
        assertThat(asked).isEqualTo(4);
        assertThat(now - silent).isBetween(3 * second, 10 * second);
        assertThat(watch.latencyNs()).isZero();
        watch.answered(now - 200, now);
        assertThat(watch.latencyNs()).isEqualTo(100);
    }
}
