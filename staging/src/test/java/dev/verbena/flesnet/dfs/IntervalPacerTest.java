package dev.verbena.flesnet.dfs;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** When an input may send: intervals of 4 rounds over 3 receivers. */
@Timeout(60)
class IntervalPacerTest {
    private static final int ACTIVE = 3;
    private static final int LENGTH = 12;

    private final IntervalRanges ranges = new IntervalRanges(12, ACTIVE);
    private final IntervalPacer pacer = new IntervalPacer(DfsParameters.PAPER.theta(50), ranges);

    private void propose(long interval, long start, long duration) {
        pacer.onProposal(
                new IntervalMetadata()
                        .set(
                                interval,
                                4,
                                ranges.first(interval),
                                ranges.last(interval),
                                start,
                                duration));
    }

    private void send(long interval, long now) {
        for (int m = 0; m < LENGTH; m++) {
            long t = ranges.first(interval) + m;
            assertThat(pacer.dueNs(t, m % ACTIVE, now)).isLessThanOrEqualTo(now);
            pacer.onSent(t, now);
        }
    }

    private void ack(long interval, int from, int to, long now) {
        for (int m = from; m < to; m++) {
            pacer.onAcked(ranges.first(interval) + m, now);
        }
    }

    @Test
    @Tag("flesnet-31")
    @Tag("flesnet-30")
    void shouldRunTheFirstIntervalsAtFullSpeed() {
        send(0, 100);
        ack(0, 0, LENGTH, 700);
        IntervalMetadata measured = new IntervalMetadata();
        assertThat(pacer.takeReport(measured)).isTrue();
        assertThat(measured.interval()).isZero();
        assertThat(measured.startNs()).isEqualTo(100);
        assertThat(measured.durationNs()).isEqualTo(600);
        assertThat(pacer.takeReport(measured)).isFalse();
        // Nobody has proposed anything: it goes on.
        send(1, 800);
        assertThat(pacer.isImprovised()).isTrue();
    }

    @Test
    @Tag("flesnet-34")
    void shouldOpenTheNextOnlyWhenTheShareIsAcknowledgedAndTheLastButOneWholly() {
        for (int m = 0; m < LENGTH - 1; m++) {
            pacer.dueNs(m, m % ACTIVE, 0);
            pacer.onSent(m, 0);
        }
        ack(0, 0, 8, 10);
        assertThat(pacer.dueNs(LENGTH, 0, 10)).isEqualTo(IntervalPacer.NOT_OPEN);
        pacer.onSent(LENGTH - 1, 10);
        assertThat(pacer.dueNs(LENGTH, 0, 10)).isEqualTo(10);
        assertThat(pacer.open()).isEqualTo(1);
        send(1, 20);
        ack(1, 0, LENGTH, 30);
        assertThat(pacer.dueNs(2 * LENGTH, 0, 40)).isEqualTo(IntervalPacer.NOT_OPEN);
        ack(0, 8, LENGTH, 50);
        assertThat(pacer.dueNs(2 * LENGTH, 0, 50)).isEqualTo(50);
    }

    @Test
    @Tag("flesnet-34")
    void shouldWaitForTheShare() {
        send(0, 0);
        ack(0, 0, 5, 10);
        assertThat(pacer.dueNs(LENGTH, 0, 10)).isEqualTo(IntervalPacer.NOT_OPEN);
        ack(0, 5, 6, 10);
        assertThat(pacer.dueNs(LENGTH, 0, 10)).isEqualTo(10);
    }

    @Test
    @Tag("flesnet-36")
    @Tag("flesnet-35")
    void shouldBeginEachRoundOnTimeAndCatchUpWhenLate() {
        propose(0, 1000, 1200);
        for (int m = 0; m < LENGTH; m++) {
            long due = pacer.dueNs(m, m % ACTIVE, 500);
            assertThat(due).isEqualTo(1000 + m * 100L);
        }
        // It begins late, and is paced from there.
        pacer.onSent(0, 1050);
        assertThat(pacer.dueNs(3, 0, 1050)).isEqualTo(1350);
        // When its time is over only tickets hold it.
        assertThat(pacer.dueNs(11, 2, 2200)).isEqualTo(2200);
    }

    @Test
    @Tag("flesnet-29")
    void shouldUseTheFirstProposalForAnInterval() {
        pacer.dueNs(0, 0, 0);
        propose(1, 5000, 600);
        propose(1, 7000, 900);
        send(0, 0);
        ack(0, 0, LENGTH, 1);
        pacer.dueNs(LENGTH, 0, 10);
        assertThat(pacer.plannedStartNs()).isEqualTo(5000);
        assertThat(pacer.plannedDurationNs()).isEqualTo(600);
        propose(1, 1, 1);
        assertThat(pacer.plannedStartNs()).isEqualTo(5000);
    }

    @Test
    @Tag("flesnet-30")
    void shouldImproviseWithTheLastDuration() {
        propose(0, 1000, 600);
        send(0, 1600);
        ack(0, 0, LENGTH, 1700);
        assertThat(pacer.dueNs(LENGTH, 0, 1500)).isEqualTo(1600);
        assertThat(pacer.plannedStartNs()).isEqualTo(1600);
        assertThat(pacer.plannedDurationNs()).isEqualTo(600);
        assertThat(pacer.improvisedCount()).isEqualTo(1);
    }

    @Test
    @Tag("flesnet-38")
    void shouldTakeEveryShareFromNoneToAll() {
        IntervalPacer none = new IntervalPacer(DfsParameters.PAPER.theta(0), ranges);
        IntervalPacer all = new IntervalPacer(DfsParameters.PAPER.theta(100), ranges);
        for (int m = 0; m < LENGTH; m++) {
            none.dueNs(m, m % ACTIVE, 0);
            none.onSent(m, 0);
            all.dueNs(m, m % ACTIVE, 0);
            all.onSent(m, 0);
        }
        assertThat(none.dueNs(LENGTH, 0, 5)).isEqualTo(5);
        for (int m = 0; m < LENGTH; m++) {
            assertThat(all.dueNs(LENGTH, 0, 5)).isEqualTo(IntervalPacer.NOT_OPEN);
            all.onAcked(m, 5);
        }
        assertThat(all.dueNs(LENGTH, 0, 5)).isEqualTo(5);
    }
}
