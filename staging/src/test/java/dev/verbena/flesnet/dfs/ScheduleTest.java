package dev.verbena.flesnet.dfs;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The scheduler: vectors of the specification, replicas, speed-up. */
@Timeout(60)
class ScheduleTest {
    private static final DfsParameters H10 = DfsParameters.PAPER;
    private static final long LATENCY = 50;

    private static ScheduleEngine engine(DfsParameters parameters, int inputs) {
        return new ScheduleEngine(
                parameters, inputs, new IntervalRanges(parameters.timeslicesPerInterval(), 96));
    }

    /** A report of an input whose clock is this one's. */
    private static void report(
            ScheduleEngine engine, int input, long interval, long start, long duration) {
        long end = start + duration;
        engine.onReport(
                input,
                new IntervalMetadata().set(interval, 1, 0, 0, start, duration),
                interval + 2,
                end,
                LATENCY,
                end + LATENCY);
    }

    /** Intervals 0 to 10 with these durations, then interval 11 of V1. */
    private static ScheduleEngine vector(long until10, long[] durations11) {
        ScheduleEngine engine = engine(H10.speedUp(10, 5, SpeedUpTest.MEAN_ABS), 3);
        long[] starts = {1_000_000, 1_000_030, 1_000_090};
        for (int x = 0; x <= 11; x++) {
            for (int i = 0; i < 3; i++) {
                long start = starts[i] - (11 - x) * 500_000L;
                report(engine, i, x, start, x == 11 ? durations11[i] : until10);
            }
        }
        return engine;
    }

    @Test
    @Tag("flesnet-24")
    void shouldComputeVectorOne() {
        ScheduleEngine engine = vector(500_000, new long[] {500_000, 510_000, 530_000});
        assertThat(engine.history().start(11)).isEqualTo(1_000_040);
        assertThat(engine.history().duration(11)).isEqualTo(510_000);
        assertThat(engine.history().median(11, 10)).isEqualTo(500_000);
        assertThat(engine.proposer().start(13)).isEqualTo(2_010_040);
        assertThat(engine.proposer().duration(12)).isEqualTo(500_000);
        assertThat(engine.proposer().duration(13)).isEqualTo(475_000);
    }

    @Test
    @Tag("flesnet-24")
    void shouldNotSpeedUpInVectorTwo() {
        long[] late = new long[10];
        Arrays.fill(late, 125_000);
        assertThat(Proposer.isRelaxed(SpeedUpTest.MEAN_ABS, 10, 625_000, late)).isFalse();
        // The limit is 10 % of H.
        Arrays.fill(late, 62_500);
        assertThat(Proposer.isRelaxed(SpeedUpTest.MEAN_ABS, 10, 625_000, late)).isTrue();
        late[0]++;
        late[1] += 9;
        assertThat(Proposer.isRelaxed(SpeedUpTest.MEAN_ABS, 10, 625_000, late)).isFalse();
        ScheduleEngine slow = vector(625_000, new long[] {625_000, 625_000, 625_000});
        assertThat(slow.history().median(11, 10)).isEqualTo(625_000);
    }

    @Test
    @Tag("flesnet-24")
    @Tag("flesnet-42")
    void shouldTakeTheFloorOfTheMiddleOfAnEvenCount() {
        assertThat(Medians.of(new long[] {40, 10, 31, 20}, 4)).isEqualTo(25);
        assertThat(Medians.of(new long[] {3, 1, 2}, 3)).isEqualTo(2);
        assertThat(Medians.of(new long[] {-3, -4}, 2)).isEqualTo(-4);
        assertThat(Medians.of(new long[] {Long.MAX_VALUE, Long.MAX_VALUE - 2}, 2))
                .isEqualTo(Long.MAX_VALUE - 1);
        assertThat(Medians.mean(new long[] {-1, -2}, 2)).isEqualTo(-2);
        long big = Long.MAX_VALUE - 10;
        assertThat(Medians.mean(new long[] {big, big + 4, big + 5}, 3)).isEqualTo(big + 3);
    }

    @Test
    @Tag("flesnet-24")
    void shouldSynchroniseClocksAsInVectorFour() {
        ClockSynchronizer clock = new ClockSynchronizer(10);
        clock.onReport(5_000_000, 4_900_000, 50);
        assertThat(clock.offset()).isEqualTo(99_950);
        clock.onReport(5_500_060, 5_400_000, 50);
        assertThat(clock.offset()).isEqualTo(100_010);
        assertThat(clock.drift()).isEqualTo((60L << 32) / 500_000);
        assertThat(Math.round(clock.drift() * 1e6 / (1L << 32))).isEqualTo(120);
        assertThat(clock.offsetAt(5_900_001)).isEqualTo(100_070);
        assertThat(clock.own(5_400_000)).isEqualTo(5_500_010);
    }

    /** Vector 5: actual duration = max(capacity, proposed). */
    private static final class Recovery {
        final long[] durations;
        private final HistoryManager history;
        private final Proposer proposer;

        Recovery(int history, Staging staging) {
            DfsParameters parameters = H10.intervals(10_000, history).staging(staging, 10);
            this.history = new HistoryManager(1, history);
            proposer = new Proposer(parameters, this.history);
            durations = new long[200];
        }

        interface Capacity {
            long at(int interval);
        }

        void run(int until, Capacity capacity) {
            for (int k = 0; k <= until; k++) {
                durations[k] = k < 2 ? 0 : proposer.duration(k);
                history.record(0, k, 0, Math.max(capacity.at(k), durations[k]));
                history.completeNext();
                proposer.propose();
            }
        }

        int recovered() {
            for (int k = 26; k < durations.length; k++) {
                if (durations[k] > 0 && Math.max(500_000, durations[k]) <= 505_000) {
                    return k;
                }
            }
            return -1;
        }
    }

    private static long disturbed(int interval) {
        return interval >= 15 && interval <= 25 ? 625_000 : 500_000;
    }

    @Test
    @Tag("flesnet-39")
    void shouldRecoverAsVectorFiveSays() {
        Recovery each = new Recovery(10, Staging.PER_INTERVAL);
        each.run(100, ScheduleTest::disturbed);
        assertThat(each.durations[12]).isEqualTo(500_000);
        assertThat(each.durations[13]).isEqualTo(475_000);
        assertThat(each.durations[22]).isEqualTo(625_000);
        assertThat(each.durations[28]).isEqualTo(625_000);
        assertThat(each.durations[29]).isEqualTo(593_750);
        assertThat(each.recovered()).isEqualTo(54);
        Recovery windowed = new Recovery(10, Staging.WINDOW);
        windowed.run(100, ScheduleTest::disturbed);
        assertThat(windowed.recovered()).isEqualTo(70);
    }

    @Test
    @Tag("flesnet-37")
    void shouldNotShrinkBelowTheMedianLessOneStep() {
        Recovery model = new Recovery(10, Staging.PER_INTERVAL);
        model.run(150, k -> 500_000);
        for (int k = 13; k <= 150; k++) {
            assertThat(model.durations[k]).isEqualTo(475_000);
        }
    }

    @Test
    @Tag("flesnet-38")
    void shouldNeverSpeedUpByZeroPercent() {
        ScheduleEngine engine = engine(H10.speedUp(10, 0, SpeedUpTest.SIGNED_MEAN).theta(0), 1);
        for (int x = 0; x < 40; x++) {
            report(engine, 0, x, 1000L * x, 1000);
            assertThat(engine.proposer().duration(x + 2)).isEqualTo(1000);
        }
        assertThat(H10.theta(100).thetaPercent()).isEqualTo(100);
    }

    @Test
    void shouldTellTheThreeTestsApart() {
        // All late by the same: the paper's equation calls that relaxed, the others do not.
        long[] late = {200, 200, 200, 200};
        long[] mixed = {200, -200, 200, -200};
        long[] uneven = {0, 0, 400, 400};
        boolean[][] expected = {{false, false, false}, {false, true, false}, {true, true, false}};
        for (SpeedUpTest test : SpeedUpTest.values()) {
            assertThat(
                            new boolean[] {
                                Proposer.isRelaxed(test, 10, 1000, late),
                                Proposer.isRelaxed(test, 10, 1000, mixed),
                                Proposer.isRelaxed(test, 10, 1000, uneven)
                            })
                    .as("%s", test)
                    .isEqualTo(expected[test.ordinal()]);
        }
        HistoryManager history = new HistoryManager(1, 4);
        Proposer eager =
                new Proposer(
                        H10.intervals(100, 4).speedUp(10, 5, SpeedUpTest.SIGNED_MEAN), history);
        history.record(0, 0, 0, 1000);
        history.completeNext();
        eager.propose();
        assertThat(eager.duration(2)).isEqualTo(950);
    }

    @Test
    @Tag("flesnet-23")
    void shouldTileTheTimesliceAxis() {
        assertThat(IntervalRanges.rounds(10_000, 96)).isEqualTo(104);
        assertThat(IntervalRanges.rounds(50, 96)).isEqualTo(1);
        IntervalRanges ranges = new IntervalRanges(10_000, 96);
        assertThat(ranges.length(0)).isEqualTo(9_984);
        ranges.change(20_000, 95);
        ranges.change(50_001, 90);
        for (long j = 0; j < 20; j++) {
            assertThat(ranges.first(j + 1)).isEqualTo(ranges.last(j) + 1);
            assertThat(ranges.length(j) % ranges.active(j)).isZero();
            assertThat(ranges.intervalOf(ranges.first(j))).isEqualTo(j);
            assertThat(ranges.intervalOf(ranges.last(j))).isEqualTo(j);
        }
        assertThat(ranges.active(2)).isEqualTo(96);
        assertThat(ranges.active(3)).isEqualTo(95);
    }

    /** One report of an input. */
    private record Report(int input, long interval, long start, long duration) {}

    private static List<Report> reports(int inputs, int intervals, long seed) {
        Random random = new Random(seed);
        List<Report> all = new ArrayList<>();
        for (int x = 0; x < intervals; x++) {
            for (int i = 0; i < inputs; i++) {
                long start = x * 1_000_000L + random.nextInt(1000);
                all.add(new Report(i, x, start, 900_000 + random.nextInt(200_000)));
            }
        }
        return all;
    }

    /** Mixes reports, each input's still in order, and none of an interval two ahead of another. */
    private static List<Report> mixed(List<Report> reports, int inputs, long seed) {
        List<Report> mixed = new ArrayList<>();
        Random random = new Random(seed);
        for (int from = 0; from < reports.size(); from += 2 * inputs) {
            int to = Math.min(from + 2 * inputs, reports.size());
            List<Report> part = new ArrayList<>(reports.subList(from, to));
            Collections.shuffle(part, random);
            part.sort((a, b) -> a.input == b.input ? Long.compare(a.interval, b.interval) : 0);
            mixed.addAll(inOrderOfEachInput(part));
        }
        return mixed;
    }

    private static List<Report> inOrderOfEachInput(List<Report> part) {
        List<Report> result = new ArrayList<>(part);
        for (int i = 0; i < result.size(); i++) {
            for (int k = i + 1; k < result.size(); k++) {
                if (result.get(i).input == result.get(k).input
                        && result.get(i).interval > result.get(k).interval) {
                    Collections.swap(result, i, k);
                }
            }
        }
        return result;
    }

    @Test
    @Tag("flesnet-25")
    @Tag("flesnet-27")
    @Tag("flesnet-28")
    void shouldProposeAlikeInEveryReplicaInWhateverOrderReportsCome() {
        int inputs = 5;
        List<Report> reports = reports(inputs, 1000, 7);
        List<long[]> proposals = new ArrayList<>();
        for (int replica = 0; replica < 3; replica++) {
            ScheduleEngine engine = engine(H10, inputs);
            long[] all = new long[4 * 1000];
            for (Report each : mixed(reports, inputs, replica)) {
                report(engine, each.input, each.interval, each.start, each.duration);
                IntervalMetadata proposal = new IntervalMetadata();
                if (engine.answer(each.input, proposal) && proposal.interval() < 1000) {
                    int at = 4 * (int) proposal.interval();
                    all[at] = proposal.first();
                    all[at + 1] = proposal.last();
                    all[at + 2] = proposal.durationNs();
                    all[at + 3] = proposal.startNs();
                }
            }
            proposals.add(all);
        }
        assertThat(Arrays.stream(proposals.get(0)).filter(v -> v != 0).count())
                .isGreaterThan(3 * 990);
        assertThat(proposals.get(1)).isEqualTo(proposals.get(0));
        assertThat(proposals.get(2)).isEqualTo(proposals.get(0));
    }

    @Test
    @Tag("flesnet-26")
    @Tag("flesnet-33")
    void shouldAnswerOnceItsIntervalIsCompleteAndAlwaysAlike() {
        ScheduleEngine engine = engine(H10, 2);
        IntervalMetadata first = new IntervalMetadata();
        IntervalMetadata second = new IntervalMetadata();
        report(engine, 0, 0, 1000, 500);
        assertThat(engine.answer(0, first)).isFalse();
        report(engine, 1, 0, 1000, 500);
        assertThat(engine.answer(0, first)).isTrue();
        assertThat(engine.answer(0, second)).isFalse();
        report(engine, 0, 1, 2000, 700);
        report(engine, 0, 0, 9000, 9000);
        assertThat(engine.answer(1, second)).isTrue();
        assertThat(second.interval()).isEqualTo(2).isEqualTo(first.interval());
        assertThat(second.startNs()).isEqualTo(first.startNs());
        assertThat(second.durationNs()).isEqualTo(first.durationNs());
        assertThat(second.first()).isEqualTo(2 * 9984);
    }

    @Test
    @Tag("flesnet-44")
    void shouldBeSilentForAWholeHistoryAfterARestart() {
        ScheduleEngine engine = engine(H10.intervals(10_000, 4), 2);
        report(engine, 0, 50, 0, 100);
        report(engine, 1, 51, 0, 100);
        IntervalMetadata proposal = new IntervalMetadata();
        for (int x = 51; x <= 54; x++) {
            report(engine, 0, x, 100L * x, 100);
            assertThat(engine.answer(0, proposal)).as("interval %s", x).isFalse();
            if (x > 51) {
                report(engine, 1, x, 100L * x, 100);
            }
        }
        assertThat(engine.history().completed() - engine.history().base() + 1).isEqualTo(4);
        assertThat(engine.answer(0, proposal)).isTrue();
        assertThat(proposal.interval()).isEqualTo(56);
    }

    /** An interval that another input has missed for so long is complete without it. */
    @Test
    void shouldGoOnWhenOneInputIsFarAheadOfAnother() {
        ScheduleEngine engine = engine(H10, 2);
        for (int i = 0; i < 2; i++) {
            for (int x = 0; x <= 40; x++) {
                report(engine, i, x, 1000L * x, 1000);
                assertThat(engine.proposer().lastProposed())
                        .isEqualTo(i == 0 && x < 27 ? -1 : engine.history().completed() + 2);
            }
            assertThat(engine.history().completed()).isEqualTo(i == 0 ? 14 : 40);
        }
        for (int x = 41; x <= 60; x++) {
            report(engine, 0, x, 1000L * x, 1000);
            report(engine, 1, x, 1000L * x, 1000);
        }
        assertThat(engine.history().completed()).isEqualTo(60);
        assertThat(engine.proposer().lastProposed()).isEqualTo(62);
    }

    /** It completes no more than was reported. */
    @Test
    void shouldBearAReportOfAnIntervalThatCannotBe() {
        ScheduleEngine engine = engine(H10, 2);
        for (int x = 0; x <= 5; x++) {
            report(engine, 0, x, 1000L * x, 1000);
        }
        report(engine, 1, 0, 0, 1000);
        report(engine, 1, Long.MAX_VALUE - 2, 0, 1000);
        assertThat(engine.history().completed()).isEqualTo(5);
        for (int x = 6; x <= 60; x++) {
            report(engine, 0, x, 1000L * x, 1000);
            report(engine, 1, x, 1000L * x, 1000);
        }
        assertThat(engine.history().completed()).isEqualTo(60);
    }

    /** The second one is sent soon after the first, which was late. */
    @Test
    void shouldBelieveNoDriftThatNoClockHas() {
        ClockSynchronizer clock = new ClockSynchronizer(10);
        clock.onReport(1_001_000_000, 1_000_000_000, 0);
        clock.onReport(1_000_050_000, 1_000_050_000, 0);
        assertThat(Math.abs(clock.drift())).isLessThanOrEqualTo(1L << 29);
        assertThat(Math.abs(clock.offsetAt(1_001_050_000))).isLessThanOrEqualTo(125_000);
    }

    @Test
    void shouldGoOnWithoutALostInput() {
        ScheduleEngine engine = engine(H10, 3);
        for (int i = 0; i < 2; i++) {
            report(engine, i, 0, 100, 100);
        }
        assertThat(engine.history().completed()).isEqualTo(-1);
        engine.removeInput(2);
        assertThat(engine.history().completed()).isZero();
        report(engine, 0, 1, 200, 100);
        report(engine, 1, 1, 200, 100);
        assertThat(engine.history().completed()).isEqualTo(1);
    }
}
