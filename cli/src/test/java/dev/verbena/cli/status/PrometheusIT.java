package dev.verbena.cli.status;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.verbena.cli.CommandProcess;
import dev.verbena.cli.Run;
import java.io.OutputStream;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Counters as Prometheus reads them. */
@Timeout(120)
class PrometheusIT {
    private static final Pattern ADDRESS = Pattern.compile("metrics: (http://\\S+)");

    @TempDir private Path folder;

    private static String scrape(CommandProcess process) throws Exception {
        Matcher address = ADDRESS.matcher(process.awaitOut("/metrics"));
        assertThat(address.find()).isTrue();
        HttpRequest request = HttpRequest.newBuilder(URI.create(address.group(1))).build();
        return HttpClient.newHttpClient().send(request, BodyHandlers.ofString()).body();
    }

    private String awaitScrape(CommandProcess process, String text) throws Exception {
        String body = scrape(process);
        for (long end = System.nanoTime() + 30_000_000_000L;
                !body.contains(text) && System.nanoTime() - end < 0; ) {
            Thread.sleep(50);
            body = scrape(process);
        }
        assertThat(body).contains(text);
        return body;
    }

    /** A compute node that waits for an input. */
    private CommandProcess node(String job, String... more) throws Exception {
        return CommandProcess.start(
                folder,
                List.of(
                                List.of(more),
                                List.of("flesnet", "compute", "0", "--directory=" + folder),
                                List.of("--job=" + job))
                        .stream()
                        .flatMap(List::stream)
                        .toArray(String[]::new));
    }

    @Test
    void shouldServeWhatAProcessCountsAndAllProcesses() throws Exception {
        String job = "prometheus-it" + ProcessHandle.current().pid();
        try (CommandProcess one = node(job, "--prometheus=0");
                CommandProcess other = node(job + "b");
                CommandProcess all = CommandProcess.start(folder, "prometheus", "127.0.0.1:0")) {
            String own = awaitScrape(one, "verbena_flesnet_compute_timeslices{");
            String line = "verbena_flesnet_compute_timeslices{job_name=\"%s\",pid=\"%s\"";
            assertThat(own)
                    .contains(line.formatted(job, one.handle().pid()))
                    .contains("role=\"flesnet compute 0\"")
                    .contains("verbena_errors_reported{")
                    .doesNotContain(job + "b");
            String both = awaitScrape(all, line.formatted(job + "b", other.handle().pid()));
            assertThat(both).contains(line.formatted(job, one.handle().pid()));
            requireThatPromtoolAgrees(own);
        }
    }

    private void requireThatPromtoolAgrees(String text) throws Exception {
        Path promtool = Path.of("/usr/bin/promtool");
        assumeTrue(Files.isExecutable(promtool), "Debian's package prometheus is not installed");
        Path said = folder.resolve("promtool.out");
        Process check =
                new ProcessBuilder(promtool.toString(), "check", "metrics")
                        .redirectErrorStream(true)
                        .redirectOutput(said.toFile())
                        .start();
        try (OutputStream in = check.getOutputStream()) {
            in.write(text.getBytes(UTF_8));
        }
        assertThat(check.waitFor(60, TimeUnit.SECONDS)).isTrue();
        assertThat(check.exitValue()).as(Files.readString(said)).isZero();
    }

    @Test
    void shouldRefuseWhatIsNoPlace() throws Exception {
        assertThat(Run.of("prometheus", "nowhere").code()).isEqualTo(2);
        assertThat(Run.of("version", "--prometheus=127.0.0.1:70000").code()).isEqualTo(2);
        try (ServerSocket taken = new ServerSocket(0)) {
            Run run = Run.of("version", "--prometheus=" + taken.getLocalPort());
            assertThat(run.code()).isEqualTo(1);
            assertThat(run.err()).contains("in use").doesNotContain("fault of Verbena");
        }
    }
}
