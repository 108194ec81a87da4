package dev.verbena.agent.internal;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** Every limit at every time that a clock may show. */
class DeadlinesTest {
    private static final long[] CLOCKS = {
        1, 0, -1, 1L << 50, -(1L << 50), Long.MAX_VALUE, Long.MIN_VALUE
    };

    @Test
    void shouldPutTheEndOfALimitAfterNowUnlessItHasEnded() {
        for (long now : CLOCKS) {
            for (long limit : new long[] {0, -1, Long.MIN_VALUE}) {
                assertThat(Deadlines.after(now, limit)).isEqualTo(now);
            }
            for (long limit : new long[] {1, 1L << 40, Long.MAX_VALUE / 2}) {
                assertThat(Deadlines.after(now, limit) - now).isEqualTo(limit);
            }
            long far = Deadlines.after(now, Long.MAX_VALUE);
            assertThat(far - now).isEqualTo(Long.MAX_VALUE / 2);
            assertThat(Deadlines.earlier(far, now + 5)).isEqualTo(now + 5);
            assertThat(Deadlines.earlier(now + 5, far)).isEqualTo(now + 5);
        }
    }

    @Test
    void shouldRoundMillisecondsUpAndKeepThemInAnInt() {
        assertThat(Deadlines.toMs(Long.MIN_VALUE)).isZero();
        assertThat(Deadlines.toMs(-1)).isZero();
        assertThat(Deadlines.toMs(0)).isZero();
        assertThat(Deadlines.toMs(1)).isEqualTo(1);
        assertThat(Deadlines.toMs(1_000_000)).isEqualTo(1);
        assertThat(Deadlines.toMs(1_000_001)).isEqualTo(2);
        assertThat(Deadlines.toMs(Long.MAX_VALUE)).isEqualTo(Integer.MAX_VALUE);
    }
}
