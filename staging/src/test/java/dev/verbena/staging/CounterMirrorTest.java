package dev.verbena.staging;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.agent.RealEnvironment;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(value = 30, unit = TimeUnit.SECONDS)
class CounterMirrorTest {
    @Test
    void shouldShowTheSourceWhenDueAndTakeTheCounterAwayAtTheEnd() {
        try (RealEnvironment environment = RealEnvironment.create()) {
            AtomicLong source = new AtomicLong(7);
            CounterMirror mirror = new CounterMirror(environment, "test").show("things", source);
            long now = environment.nanoClock().nanoTime();

            mirror.publish(now);
            assertThat(values(environment)).containsExactly("test things=7");

            source.set(8);
            mirror.publish(now + 1);
            assertThat(values(environment)).as("not due yet").containsExactly("test things=7");

            mirror.publish(now + TimeUnit.SECONDS.toNanos(1));
            assertThat(values(environment)).containsExactly("test things=8");

            mirror.close();
            mirror.close();
            assertThat(values(environment)).isEmpty();
        }
    }

    private static List<String> values(RealEnvironment environment) {
        List<String> values = new ArrayList<>();
        environment
                .counters()
                .forEach((value, counterId, label) -> values.add(label + "=" + value));
        return values;
    }
}
