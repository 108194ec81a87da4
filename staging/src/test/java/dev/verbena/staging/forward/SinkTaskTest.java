package dev.verbena.staging.forward;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.staging.forward.SinkTask.Result;
import dev.verbena.staging.sink.SinkSession;
import java.io.IOException;
import java.io.UncheckedIOException;
import org.junit.jupiter.api.Test;

/** Which failures are tried again. */
class SinkTaskTest {
    private static void requireEnd(RuntimeException failure, Result wanted) {
        SinkTask task =
                new SinkTask(null) {
                    @Override
                    protected String perform(SinkSession session) {
                        throw failure;
                    }
                };
        assertThat(task.run(null)).as("the session can be used again").isFalse();
        assertThat(task.result()).isEqualTo(wanted);
    }

    @Test
    void shouldNotTryAgainWhatTheSinkFailsOver() {
        requireEnd(new ArithmeticException("long overflow"), Result.REJECTED);
        requireEnd(new UncheckedIOException(new IOException("lost")), Result.UNKNOWN);
    }
}
