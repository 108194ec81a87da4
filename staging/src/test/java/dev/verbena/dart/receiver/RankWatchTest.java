package dev.verbena.dart.receiver;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.dart.WireEnvironment;
import dev.verbena.dart.store.InboundStream;
import dev.verbena.dart.store.RankEntry;
import dev.verbena.dart.wire.ClientNotice;
import dev.verbena.dart.wire.FrameFlyweight;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What is remembered of processes, and for how long. */
@Timeout(60)
class RankWatchTest {
    private static final UUID JOB = new UUID(5, 6);

    private final WireEnvironment wire = new WireEnvironment();
    private final InboundStream stream = new InboundStream(JOB, 0, false);
    private final List<Integer> told = new ArrayList<>();
    private final RankWatch watch = watch();
    private final FrameFlyweight frame = new FrameFlyweight();
    private final UnsafeBuffer header = new UnsafeBuffer(new byte[FrameFlyweight.LENGTH]);
    private final UnsafeBuffer payload = new UnsafeBuffer(new byte[ClientNotice.LENGTH]);

    private RankWatch watch() {
        return new RankWatch(
                wire,
                (application, rank, client) -> told.add(rank),
                null,
                new ArrayList<>(List.of(stream)));
    }

    private void notice(int kind, int rank, int registration) {
        payload.putInt(0, 0, ByteOrder.BIG_ENDIAN);
        payload.putInt(4, rank, ByteOrder.BIG_ENDIAN);
        payload.putInt(8, registration, ByteOrder.BIG_ENDIAN);
        frame.begin(header, 0, FrameFlyweight.DATA)
                .flags(kind)
                .sequence(1)
                .message(rank + 1, 1, 0, 0)
                .end(payload, 0, ClientNotice.LENGTH);
        watch.onNotice(stream, frame, payload, wire.clock.nanoTime());
    }

    @Test
    @Tag("dart-F6")
    void shouldTellEveryLossAndRememberABoundedNumber() {
        int count = 2 * RankWatch.ENTRIES_MAX + 100;
        for (int rank = 0; rank < count; rank++) {
            notice(FrameFlyweight.CLIENT_LOST, rank, 0);
            assertThat(watch.entries()).hasSizeLessThanOrEqualTo(RankWatch.ENTRIES_MAX);
        }
        // More than can be remembered were told early rather than never.
        assertThat(told).hasSize(count - RankWatch.ENTRIES_MAX);
        wire.clock.advanceNs(2 * RankWatch.GRACE_NS);
        watch.doWork(wire.clock.nanoTime());
        assertThat(told).hasSize(count).doesNotHaveDuplicates();
        assertThat(watch.isAnyUntold()).isFalse();
        notice(FrameFlyweight.CLIENT_HERE, count, 1);
        assertThat(watch.entries()).hasSize(RankWatch.ENTRIES_MAX);
    }

    @Test
    @Tag("dart-F6")
    void shouldTellNobodyOfAProcessThatCameToAnotherServer() {
        notice(FrameFlyweight.CLIENT_LOST, 3, 0);
        notice(FrameFlyweight.CLIENT_HERE, 3, 1);
        wire.clock.advanceNs(2 * RankWatch.GRACE_NS);
        assertThat(watch.doWork(wire.clock.nanoTime())).isZero();
        // Word of the earlier registration comes late.
        notice(FrameFlyweight.CLIENT_LOST, 3, 0);
        assertThat(watch.isAnyUntold()).isFalse();
        notice(FrameFlyweight.CLIENT_LOST, 3, 1);
        assertThat(watch.nextDeadlineNs(wire.clock.nanoTime()))
                .isEqualTo(wire.clock.nanoTime() + RankWatch.GRACE_NS);
        wire.clock.advanceNs(RankWatch.GRACE_NS);
        watch.doWork(wire.clock.nanoTime());
        assertThat(told).containsExactly(3);
    }

    @Test
    void shouldHoldItsBoundAfterARestart() {
        List<RankEntry> known = new ArrayList<>();
        for (int i = 0; i < RankWatch.ENTRIES_MAX + 50; i++) {
            int state = i < 60 ? RankEntry.LOST : RankEntry.HERE;
            known.add(new RankEntry(JOB, i, 0, i, 1, state));
        }
        watch.restore(known, wire.clock.nanoTime());
        assertThat(watch.entries()).hasSize(RankWatch.ENTRIES_MAX);
        wire.clock.advanceNs(2 * RankWatch.GRACE_NS);
        watch.doWork(wire.clock.nanoTime());
        assertThat(told).hasSize(60);
    }

    /** Walking all that is remembered in each cycle would take minutes. */
    @Test
    void shouldCostNothingWhileNobodyHasToBeTold() {
        for (int rank = 0; rank < RankWatch.ENTRIES_MAX; rank++) {
            notice(FrameFlyweight.CLIENT_HERE, rank, 1);
        }
        long now = wire.clock.nanoTime();
        long work = 0;
        for (int i = 0; i < 50_000_000; i++) {
            work += watch.doWork(now) + (watch.nextDeadlineNs(now) < 0 ? 1 : 0);
        }
        assertThat(work).isZero();
    }
}
