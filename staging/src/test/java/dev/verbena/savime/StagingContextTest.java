package dev.verbena.savime;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** Times that a server cannot keep are refused where they are set. */
class StagingContextTest {
    private static final Duration BACK = Duration.ofMillis(-1);
    private static final Duration LONG = Duration.ofDays(200_000);

    @Test
    void shouldRefuseTimesBelowZeroAndAboveAYear() {
        StagingService.Context context = new StagingService.Context();
        List<Consumer<Duration>> setters =
                List.of(
                        context::resume,
                        context::keepFailed,
                        context::admissionWait,
                        context::grace,
                        time -> context.retry(Duration.ofMillis(1), time),
                        time -> context.retry(time, Duration.ofSeconds(1)));
        for (Consumer<Duration> setter : setters) {
            for (Duration time : List.of(BACK, LONG)) {
                assertThatThrownBy(() -> setter.accept(time))
                        .isInstanceOf(IllegalArgumentException.class);
            }
            assertThatCode(() -> setter.accept(Duration.ofDays(1))).doesNotThrowAnyException();
        }
        assertThatThrownBy(() -> context.retry(Duration.ZERO, Duration.ZERO))
                .hasMessageContaining("first retry");
    }
}
