package dev.verbena.cli.perf;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.Turns;
import dev.verbena.cli.CommandProcess;
import dev.verbena.transport.TransportProvider;
import dev.verbena.transport.Transports;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** {@code lat} and {@code bw} with their second process. */
@Timeout(120)
class PerfIT {
    private static final String[] TURNS = {
        "lat put", "bw put", "lat get", "bw get", "lat send", "bw send"
    };

    @TempDir private Path folder;

    static Stream<String> cases() {
        return Transports.providers().stream()
                .filter(TransportProvider::isAvailable)
                .map(TransportProvider::scheme)
                .flatMap(
                        scheme ->
                                Stream.of("put", "get", "send")
                                        .flatMap(
                                                op ->
                                                        Stream.of("lat", "bw")
                                                                .map(
                                                                        c ->
                                                                                c + " " + op + " "
                                                                                        + scheme)))
                // auto:// has no data path of its own.
                .filter(line -> !line.endsWith(" auto") || line.contains(" put "));
    }

    @ParameterizedTest
    @MethodSource("cases")
    void shouldMeasure(String line) throws Exception {
        String[] words = line.split(" ");
        Turns.assume(words[0] + " " + words[1], TURNS);
        CommandProcess command =
                CommandProcess.run(
                        folder,
                        words[0],
                        "--op=" + words[1],
                        "--transport=" + words[2],
                        "-s=1000",
                        "-n=50",
                        "--json");
        assertThat(command.exitCode()).as("%s", command.out()).isZero();
        assertThat(command.out())
                .contains("\"command\": \"" + words[0] + "\"", "\"bytes\": 1000")
                .contains("\"iterations\": 50", "\"placement\"")
                .contains(words[0].equals("lat") ? "\"p999Ns\"" : "\"averageMBps\"");
    }

    @Test
    void shouldMeasureSeveralLengthsInOneRun() throws Exception {
        CommandProcess command =
                CommandProcess.run(
                        folder, "lat", "--transport=shm", "-s=4k,8,8", "-n=50", "--json");
        assertThat(command.exitCode()).as("%s", command.out()).isZero();
        assertThat(command.out().split("\"bytes\": ", -1)).hasSize(3);
        assertThat(command.out().indexOf("\"bytes\": 8,"))
                .isPositive()
                .isLessThan(command.out().indexOf("\"bytes\": 4096,"));
        assertThat(command.out().split("\"p999CorrectedNs\": [1-9]", -1)).hasSize(3);
    }

    @Tag("each-jdk")
    @Test
    void shouldMeasureAgainstAProcessThatListens() throws Exception {
        try (CommandProcess listener =
                CommandProcess.start(folder, "lat", "--listen", "--transport=shm", "-s=64")) {
            // A newer JVM warns on standard error, which is here too, before the address.
            String uri =
                    listener.awaitOut("shm://")
                            .lines()
                            .filter(line -> line.startsWith("shm://"))
                            .findFirst()
                            .orElseThrow();
            CommandProcess command =
                    CommandProcess.run(folder, "lat", "--connect=" + uri, "-s=64", "-n=20");
            assertThat(command.exitCode()).as("%s", command.out()).isZero();
            assertThat(command.out()).contains("p99.9", "       64          20");
            assertThat(listener.exitCode()).isZero();
        }
    }

    @Test
    void shouldSayThatNobodyListens() throws Exception {
        CommandProcess command =
                CommandProcess.run(
                        folder, "lat", "--connect=shm://default/nobody?incarnation=1", "-n=20");
        assertThat(command.exitCode()).isEqualTo(1);
        assertThat(command.out()).contains("nobody").doesNotContain("\tat ");
    }
}
