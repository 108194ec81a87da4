package dev.verbena.nsim.dart;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Many small services under random schedules and faults: a few seeds that never change with the
 * unit tests, ten thousand new ones where {@code -Dverbena.seed} asks for randomised tests. {@code
 * verbena sim sweep} tries others, and {@code DartSweepFaultsIT} shows that the sweep finds bugs.
 */
@Timeout(900)
@Tag("once")
class DartSweepTest {
    private static final int FEW = 150;
    private static final int MANY = 10_000;

    @Test
    @Tag("nsim-48")
    @Tag("nsim-49")
    void shouldKeepEveryPromiseUnderRandomSchedulesAndFaults() {
        sweep(1, FEW);
    }

    @Test
    @Tag("seeded")
    @Tag("nsim-46")
    void shouldKeepEveryPromiseInTenThousandCasesOfTheDay() {
        Long seed = Long.getLong("verbena.seed");
        assumeTrue(seed != null, "only with -Dverbena.seed, as in the tier seeds");
        sweep(seed * MANY, MANY);
    }

    /** A receiver is killed that has two of the message's three parts; the next has none. */
    @Test
    void shouldNotConfirmAMessageThatEndedWithAReceiver() {
        assertThat(DartSweep.run(207_804_788L, null).failure()).isEmpty();
    }

    /** A server is frozen until it has lost a process, which then sends the message again. */
    @Test
    void shouldNotConfirmAMessageOfWhichItDroppedTheHalf() {
        assertThat(DartSweep.run(207_801_579L, null).failure()).isEmpty();
    }

    /**
     * A server's answers are lost while a process says goodbye, so that its record stays in use.
     */
    @Test
    void shouldCloseAClientWhoseServerDoesNotAnswer() {
        assertThat(DartSweep.run(207_870_497L, null).failure()).isEmpty();
    }

    private static void sweep(long first, int count) {
        long[] sums = new long[2];
        DartSweep.Finding found =
                DartSweep.sweep(
                        first,
                        count,
                        (done, last) -> {
                            sums[0] += last.delivered();
                            sums[1] += last.failed();
                            return true;
                        });
        assertThat(found).as("replay: verbena sim sweep --seed of the finding").isNull();
        // The faults do harm, and most messages come through all the same.
        assertThat(sums[0]).isGreaterThan(count);
        assertThat(sums[1]).isPositive();
    }

    /** Of seed 642 a process is killed while it closes. */
    @Test
    void shouldEndWhenAProcessIsKilledWhileItWaits() {
        DartShape s = DartShape.of(642);
        DartShape shape =
                new DartShape(
                        s.servers(),
                        s.nodes(),
                        s.messages(),
                        s.length(),
                        s.buffers(),
                        s.bufferSize(),
                        s.inFlight(),
                        s.isDurable(),
                        s.isReassigned(),
                        s.computeNs(),
                        s.isClockWrong(),
                        8);
        DartCase killed = new DartCase(642, shape, Fault.plan(642, shape), null);
        assertThat(killed.run().failure()).isEmpty();
    }

    /** A server that stays frozen for ever: nobody can come to an end. */
    @Test
    @Tag("nsim-44")
    void shouldFailAlikeInEachOfAHundredReplays() {
        DartOutcome first = frozen(5);
        assertThat(first.failure()).contains("end: ");
        for (int i = 0; i < 100; i++) {
            assertThat(frozen(5)).isEqualTo(first);
        }
        assertThat(frozen(6).traceHash()).isNotEqualTo(first.traceHash());
    }

    private static DartOutcome frozen(long seed) {
        DartShape shape = DartShape.of(seed).with(1, 1, 1);
        String server = DartCluster.server(0);
        Fault forEver = new Fault(Fault.Kind.FREEZE, 0, 100_000_000_000_000L, server, server, 1);
        return new DartCase(seed, shape, List.of(forEver), null).run();
    }

    @Test
    @Tag("nsim-44")
    void shouldReplayASeedEventByEvent() {
        DartOutcome first = DartSweep.run(11, null);
        assertThat(DartSweep.run(11, null)).isEqualTo(first);
        long[] lines = new long[1];
        assertThat(DartSweep.run(11, (time, what, about) -> lines[0]++)).isEqualTo(first);
        assertThat(lines[0]).isPositive();
        assertThat(DartSweep.describe(11)).contains("servers=", "faults");
        assertThat(DartSweep.run(12, null).traceHash()).isNotEqualTo(first.traceHash());
    }
}
