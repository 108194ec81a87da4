package dev.verbena.cli.status;

import static java.nio.ByteOrder.LITTLE_ENDIAN;
import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.agent.RealEnvironment;
import dev.verbena.cli.Run;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class ErrorsCommandTest {
    private static final int BUFFERS_AT = 128;

    /** As a process that was killed leaves it, and with an error shorter than any. */
    private static byte[] damaged(byte[] counters) {
        ByteBuffer bytes = ByteBuffer.wrap(counters).order(LITTLE_ENDIAN);
        bytes.putLong(16, Integer.MAX_VALUE);
        int log = BUFFERS_AT + bytes.getInt(32) + bytes.getInt(36);
        bytes.order(ByteOrder.nativeOrder()).putInt(log, 8);
        return counters;
    }

    @Test
    void shouldRemoveWhatADeadProcessLeftAlthoughItsErrorsCannotBeRead() throws Exception {
        String job = "errors-" + ProcessHandle.current().pid();
        try (RealEnvironment environment = RealEnvironment.builder().job(job).build()) {
            Path counters = environment.countersPath();
            Path left = counters.resolveSibling("77-1.counters");
            Files.write(left, damaged(Files.readAllBytes(counters)));
            assertThat(Run.of("errors", "--job=" + job).out()).contains("error log is damaged");
            assertThat(left).exists();
            Run.of("errors", "--job=" + job, "--remove");
            assertThat(left).doesNotExist();
            assertThat(counters).exists();
        }
    }
}
