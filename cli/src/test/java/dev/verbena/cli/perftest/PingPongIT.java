package dev.verbena.cli.perftest;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * {@code pingpong} with rdma-core's programs at the other end, both ways round, and with itself.
 * With {@code -c} the C server looks at the first byte of each page, ours at every byte; our client
 * compares what the C server sends back. Of several queue pairs it is the last message, otherwise
 * every one.
 */
@Tag("verbs-device")
@Timeout(180)
class PingPongIT {
    private VerbsPrograms programs;

    @BeforeEach
    void find() {
        programs = VerbsPrograms.here();
    }

    private List<String> ours(String kind, String... more) {
        return with(List.of("pingpong", kind), more);
    }

    private List<String> theirs(String kind, String... more) {
        return with(List.of("ibv_" + kind + "_pingpong"), more);
    }

    private List<String> with(List<String> command, String... more) {
        String[] common = {"-d", programs.device, "-g", "" + programs.gidIndex, "-c"};
        return VerbsPrograms.plus(VerbsPrograms.plus(command, common), more);
    }

    private static String verdict(String kind) {
        return kind.equals("srq")
                ? "every byte of the last message is right"
                : "every byte of every message is right";
    }

    @ParameterizedTest
    @ValueSource(strings = {"rc", "uc", "ud", "srq"})
    void shouldPlayWithRdmaCore(String kind) throws Exception {
        String[] options = {"-n", "100", "-s", kind.equals("ud") ? "1000" : "9000"};
        VerbsPrograms.Both client =
                programs.ourClient(theirs(kind, options), ours(kind, options)).assertWell();
        assertThat(client.client().text()).contains(verdict(kind));
        assertThat(client.server().text()).contains("100 iters").doesNotContain("invalid");
        VerbsPrograms.Both server =
                programs.ourServer(ours(kind, options), theirs(kind, options)).assertWell();
        assertThat(server.server().text()).contains(verdict(kind));
        assertThat(server.client().text()).contains("100 iters");
    }

    @ParameterizedTest
    @ValueSource(strings = {"ud", "srq"})
    void shouldPlayWithItselfAsleep(String kind) throws Exception {
        String[] options = {"-n", "50", "-s", "700", "-e"};
        VerbsPrograms.Both both =
                programs.ours(ours(kind, options), ours(kind, options)).assertWell();
        assertThat(both.server().text()).contains(verdict(kind));
        assertThat(both.client().text()).contains(verdict(kind));
    }
}
