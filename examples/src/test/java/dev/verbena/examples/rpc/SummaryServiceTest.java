package dev.verbena.examples.rpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.agent.Await;
import dev.verbena.agent.RealEnvironment;
import dev.verbena.examples.rpc.wire.Series;
import dev.verbena.examples.rpc.wire.SeriesConstants;
import dev.verbena.examples.rpc.wire.Summary;
import dev.verbena.nessie.NessieClient;
import dev.verbena.nessie.NessieServer;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.Transports;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class SummaryServiceTest {
    private static final Path SOURCE =
            Path.of("src/main/java/dev/verbena/examples/rpc/SummaryService.java");

    private static Map<String, Long> counters(RealEnvironment environment) {
        Map<String, Long> counters = new TreeMap<>();
        environment
                .counters()
                .forEach(
                        (id, label) ->
                                counters.put(label, environment.counters().getCounterValue(id)));
        return counters;
    }

    @Test
    void shouldSummarizeASeriesLongerThanItsBuffer() {
        String job = "summary-test" + ProcessHandle.current().pid();
        try (RealEnvironment environment = RealEnvironment.builder().job(job).build()) {
            Summary summary = SummaryClient.run(environment, "shm", job);
            assertThat(summary.least()).isZero();
            assertThat(summary.greatest()).isEqualTo(999_999);
            assertThat(summary.mean()).isEqualTo(499_999.5);
        }
    }

    @Test
    void shouldCountWhatItDoesAndRefuseWhatIsNoSeries() {
        String job = "summary-count" + ProcessHandle.current().pid();
        TransportContext context = new TransportContext().job(job);
        try (RealEnvironment environment = RealEnvironment.builder().job(job).build();
                NessieServer server =
                        SummaryService.start(environment, Transports.open("shm", context));
                NessieClient client =
                        NessieClient.connect(
                                environment,
                                Transports.open("shm", context),
                                server.url(),
                                10_000)) {
            ByteBuffer odd = ByteBuffer.allocateDirect(12);
            assertThatThrownBy(
                            () ->
                                    client.call(
                                                    SeriesConstants.SUMMARIZE,
                                                    new Series(),
                                                    new Summary(),
                                                    odd)
                                            .join())
                    .hasMessageContaining("operation 1");
            Await.until(
                    "counted, the question for the service, too",
                    () ->
                            counters(environment)
                                    .getOrDefault("nessie server requests handled", 0L)
                                    .equals(2L));
            assertThat(counters(environment))
                    .containsEntry("nessie server requests pending", 0L)
                    .containsEntry("nessie server requests malformed", 0L)
                    .containsEntry("nessie server buffers in use at most", 1L);
        }
    }

    /** So much is a service: imports, comments and blank lines aside. */
    @Test
    void shouldTakeSixtyLines() throws IOException {
        long lines =
                Files.readAllLines(SOURCE).stream()
                        .map(String::strip)
                        .filter(line -> !line.isEmpty() && !line.matches("(import|/?\\*).*"))
                        .count();
        assertThat(lines).isLessThanOrEqualTo(60);
    }
}
