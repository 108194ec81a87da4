package dev.verbena.staging;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class LinkBackOffTest {
    @Test
    void shouldTryLaterAndLaterButAtLeastTwiceASecond() {
        LinkBackOff backOff = new LinkBackOff(new SplittableRandom(1), 0);
        long nowNs = 0;
        for (int i = 0; i < 20; i++) {
            backOff.failed(nowNs);
            long waitNs = backOff.nextTryNs() - nowNs;
            long fullNs = Math.min(50_000_000L << Math.min(i, 10), 500_000_000L);
            assertThat(waitNs).isBetween(fullNs * 3 / 4, fullNs);
            nowNs = backOff.nextTryNs();
        }
        backOff.reset();
        backOff.failed(nowNs);
        assertThat(backOff.nextTryNs() - nowNs).isLessThanOrEqualTo(50_000_000L);
    }
}
