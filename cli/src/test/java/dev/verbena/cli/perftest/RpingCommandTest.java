package dev.verbena.cli.perftest;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.cli.Run;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Arguments of {@code verbena rping}; {@code RpingDeviceIT} has the rest. */
@Timeout(60)
class RpingCommandTest {
    private static void assertRefused(String why, String... arguments) {
        Run run = Run.of(arguments);
        assertThat(run.code()).isEqualTo(2);
        assertThat(run.err()).contains(why);
    }

    @Test
    void shouldRefuseArgumentsThatMakeNoSense() {
        assertRefused("(-s | -c)", "rping");
        assertRefused("mutually exclusive", "rping", "-s", "-c");
        assertRefused("a client needs --address", "rping", "--client");
        assertRefused("--size 31; 32 to", "rping", "-s", "--size", "31");
        assertRefused("--count 0; at least 1", "rping", "-s", "--count", "0");
        assertRefused("--port 65536; 1 to 65535", "rping", "-s", "--port", "65536");
        assertRefused("--verify is for the client", "rping", "-s", "--verify");
        assertRefused("--timeout 0; at least 1", "rping", "-s", "--timeout", "0");
    }
}
