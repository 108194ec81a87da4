package dev.verbena.cli.nessie;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.agent.RealEnvironment;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;
import picocli.CommandLine.Command;

/** When a process of servers ends, and with which code. */
@Timeout(60)
class ServerCommandTest {
    @TempDir Path folder;

    /** Codes of servers; null: it runs. */
    @Command(name = "servers")
    private static final class Servers extends ServerCommand {
        private final List<Integer> codes;
        private int closedCount;

        Servers(Integer... codes) {
            this.codes = Arrays.asList(codes);
        }

        @Override
        public Integer call() throws Exception {
            return run("servers-test", codes.size());
        }

        @Override
        Served start(RealEnvironment environment, int place) {
            return new Served(
                    "url" + place, () -> codes.get(place), () -> closedCount += place + 1);
        }
    }

    private int run(Servers servers, StringWriter err) {
        return new CommandLine(servers)
                .setErr(new PrintWriter(err))
                .execute("--server-url-file=" + folder.resolve("urls"));
    }

    @Test
    void shouldEndWithAllServersOnceOneHasFailed() {
        for (Integer[] codes : new Integer[][] {{0, -1}, {-1, -1}, {null, -1}}) {
            Servers servers = new Servers(codes);
            StringWriter err = new StringWriter();
            assertThat(run(servers, err)).as(Arrays.toString(codes)).isEqualTo(1);
            assertThat(err.toString()).contains("has failed, and so all servers end");
            assertThat(servers.closedCount).isEqualTo(3);
        }
        assertThat(run(new Servers(0, 0), new StringWriter())).isZero();
    }
}
