package dev.verbena.flesnet.input;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.flesnet.FlesnetContext;
import dev.verbena.flesnet.RingEndPolicy;
import dev.verbena.flesnet.wire.SyncFlyweight;
import java.util.ArrayDeque;
import java.util.Random;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Positions and tickets of an input's connection. */
@Timeout(60)
class InputLinkTest {
    private static final int RING = 1 << 10;
    private static final int SLOTS = 1 << 3;

    private final SyncFlyweight ack =
            new SyncFlyweight().begin(new UnsafeBuffer(new byte[256]), 0, SyncFlyweight.ACK, 0, 1);

    private static InputLink link(RingEndPolicy policy, long start) {
        InputLink link =
                new InputLink(
                        new FlesnetContext().ringEnd(policy).startPosition(start), 0, null, 0);
        link.greeted(10, 3, false);
        return link;
    }

    private static void write(InputLink link, long size) {
        long position = link.positionFor(size);
        int slot = link.slotOfNext();
        link.posted();
        link.finished(link.next(), position, size);
        link.onWritten(slot);
        link.reportedTo(link.done());
    }

    private boolean acknowledge(InputLink link, long start, long released, long received) {
        ack.i64(0, link.dataPosition(released))
                .i64(8, start + released)
                .i64(16, start + received)
                .i64(24, start + Math.max(released, received - 1));
        return link.onAck(ack);
    }

    @Test
    @Tag("flesnet-4")
    @Tag("flesnet-5")
    void shouldNeverHaveMoreOutstandingThanTheRingsHold() {
        for (RingEndPolicy policy : RingEndPolicy.values()) {
            for (long start : new long[] {0, Long.MAX_VALUE - 9}) {
                Random random = new Random(11);
                InputLink link = link(policy, start);
                ArrayDeque<long[]> outstanding = new ArrayDeque<>();
                int written = 0;
                while (written < 20_000) {
                    long size = 1 + random.nextInt(random.nextBoolean() ? RING : RING / 8);
                    if (random.nextInt(3) > 0 && link.hasTicket(size)) {
                        long position = link.positionFor(size);
                        write(link, size);
                        outstanding.add(new long[] {position, position + size});
                        written++;
                        long from = outstanding.peek()[0];
                        assertThat(position + size - from).isLessThanOrEqualTo(RING);
                        assertThat(outstanding.size()).isLessThanOrEqualTo(SLOTS);
                        boolean isContiguous = (position & RING - 1) + size <= RING;
                        assertThat(policy == RingEndPolicy.SPLIT || isContiguous).isTrue();
                    } else if (!outstanding.isEmpty()) {
                        outstanding.remove();
                        long released = written - outstanding.size();
                        assertThat(acknowledge(link, start, released, written)).isTrue();
                    }
                }
            }
        }
    }

    @Test
    @Tag("flesnet-13")
    void shouldIgnoreAcknowledgementsThatCameLateOrTwice() {
        InputLink link = link(RingEndPolicy.SKIP, 0);
        for (int i = 0; i < 6; i++) {
            write(link, 100);
        }
        assertThat(acknowledge(link, 0, 4, 6)).isTrue();
        assertThat(acknowledge(link, 0, 2, 6)).isFalse();
        assertThat(acknowledge(link, 0, 4, 5)).isFalse();
        assertThat(link.released()).isEqualTo(4);
        assertThat(link.received()).isEqualTo(6);
    }

    /** The eighth behind the last one that was released is in the same slot. */
    @Test
    @Tag("flesnet-5")
    void shouldKnowWhereTheRingBeginsWhenAllIsSentAnew() {
        InputLink link = link(RingEndPolicy.SKIP, 0);
        write(link, 100);
        assertThat(acknowledge(link, 0, 1, 1)).isTrue();
        for (int i = 0; i < SLOTS; i++) {
            write(link, 100);
        }
        link.undo(1);
        assertThat(link.positionFor(100)).isEqualTo(100);
        assertThat(link.dataPosition(1)).isEqualTo(100);
    }

    @Test
    @Tag("flesnet-14")
    void shouldRefuseToHaveAcknowledgedWhatItHasNotWritten() {
        InputLink link = link(RingEndPolicy.SKIP, 0);
        write(link, 100);
        write(link, 100);
        assertThatThrownBy(() -> acknowledge(link, 0, 2, 3))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("3 received of 2 written");
        ack.i64(0, 77).i64(8, 1).i64(16, 2).i64(24, 2);
        assertThatThrownBy(() -> link.onAck(ack)).isInstanceOf(IllegalArgumentException.class);
        assertThat(link.released()).isZero();
    }

    /** The compute node had not received the decision when it sent the first two. */
    @Test
    @Tag("flesnet-45")
    void shouldTakeAcknowledgementsOfWhatWasUndone() {
        InputLink link = link(RingEndPolicy.SKIP, 0);
        for (int i = 0; i < 6; i++) {
            write(link, 100);
        }
        link.undo(4);
        ack.i64(0, 200).i64(8, 2).i64(16, 6).i64(24, 3);
        assertThat(link.onAck(ack)).isTrue();
        assertThat(link.received()).isEqualTo(4);
        write(link, 100);
        ack.i64(0, 300).i64(8, 3);
        assertThat(link.onAck(ack)).isTrue();
        ack.i64(0, 400).i64(8, 4).i64(16, 4).i64(24, 4);
        assertThat(link.onAck(ack)).isTrue();
        assertThat(link.released()).isEqualTo(4);
        ack.i64(16, 7);
        assertThatThrownBy(() -> link.onAck(ack)).isInstanceOf(IllegalArgumentException.class);
        ack.i64(16, 6).i64(24, 6);
        assertThatThrownBy(() -> link.onAck(ack)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    @Tag("flesnet-22")
    void shouldBookEveryMomentToOneCause() {
        StallClock clock = new StallClock(0);
        Random random = new Random(3);
        long now = 0;
        for (int i = 0; i < 1000; i++) {
            now += random.nextInt(100);
            clock.enter(random.nextInt(4), now);
        }
        clock.enter(clock.state() ^ 1, now);
        long sum = 0;
        for (int state = StallClock.NONE; state <= StallClock.CREDIT; state++) {
            sum += clock.totalNs(state);
        }
        assertThat(sum).isEqualTo(now);
    }
}
