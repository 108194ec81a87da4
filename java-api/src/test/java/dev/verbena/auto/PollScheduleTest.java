package dev.verbena.auto;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class PollScheduleTest {
    private long nowNs;
    private int clockReadings;
    private final PollSchedule schedule =
            new PollSchedule(
                    () -> {
                        clockReadings++;
                        return nowNs;
                    });

    /** Looks in so many polls, at which the other parts have nothing. */
    private int looks(int polls, long pollNs, boolean hasConnections, int eventsOfFirst) {
        int looks = 0;
        for (int i = 0; i < polls; i++) {
            nowNs += pollNs;
            schedule.onFirstPolled(eventsOfFirst);
            if (schedule.isDue(hasConnections)) {
                looks++;
                schedule.onOthersPolled(0);
            }
        }
        return looks;
    }

    @Test
    void shouldLookEachTimeWhereOthersHaveConnectionsAndTheFirstIsQuiet() {
        looks(100, 10, true, 0);
        assertThat(looks(1_000, 10, true, 0)).isEqualTo(1_000);
    }

    @Test
    void shouldLookRarelyWithoutConnectionsAndAskTheClockRarely() {
        looks(10_000, 10, false, 0);
        clockReadings = 0;
        assertThat(looks(100_000, 10, false, 0)).isBetween(14, 16);
        assertThat(clockReadings).isLessThan(100_000 / 15);
    }

    @Test
    void shouldLookRarelyWhileTheFirstHasEventsAndSoonAgainOnceOthersHave() {
        looks(10_000, 10, true, 1);
        assertThat(looks(100_000, 10, true, 1)).isBetween(14, 16);
        schedule.onOthersPolled(1);
        assertThat(looks(1_000, 10, true, 1)).isBetween(2, 3);
    }

    @Test
    void shouldLookEachTimeForASlowPoller() {
        looks(100, 1_000_000, false, 1);
        assertThat(looks(100, 1_000_000, false, 1)).isEqualTo(100);
    }

    @Test
    void shouldSeeAPollerBecomeSlowWithinFewPolls() {
        looks(10_000, 10, true, 1);
        assertThat(looks(40, 1_000_000, true, 1)).isGreaterThan(10);
    }

    @Test
    void shouldLookOnceAfterItWasAsked() {
        looks(10_000, 10, false, 0);
        schedule.ask();
        assertThat(schedule.isDue(false)).isTrue();
        assertThat(schedule.isDue(false)).isFalse();
    }
}
