package dev.verbena.cli.status;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.HeadlessBrowser;
import dev.verbena.agent.CountersFile;
import dev.verbena.cli.CommandProcess;
import dev.verbena.cli.StagingJob;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.agrona.IoUtil;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The page of {@code verbena watch} beside a staging job of real processes, in a real browser. */
@Timeout(300)
class WatchIT {
    @TempDir private Path folder;

    private static String address(CommandProcess watch) throws Exception {
        String line =
                watch.awaitOut("/\n")
                        .lines()
                        .filter(text -> text.contains(" on http://"))
                        .findFirst()
                        .get();
        return line.substring(line.indexOf("http://"));
    }

    @Test
    void shouldFollowAJobAndSurviveAKilledProcess() throws Exception {
        Path browser = HeadlessBrowser.find();
        Assumptions.assumeTrue(browser != null, "Chromium is not installed");
        Path source = Files.write(folder.resolve("file"), new byte[40_000_000]);
        // Processes of other tests come and go in the default job.
        String name = "watch-" + ProcessHandle.current().pid();
        Map<String, String> variables = Map.of("VERBENA_JOB", name);
        try (StagingJob job = new StagingJob(folder, "shm", variables);
                CommandProcess watch =
                        CommandProcess.start(folder, "watch", "--job=" + name, "--interval=0.3");
                BrowserSession page = new BrowserSession(browser, folder)) {
            page.open(address(watch));
            page.awaitTrue("document.querySelectorAll('#rows tr:not(.detail)').length >= 3");
            assertThat(page.evaluate("document.getElementById('table').innerText"))
                    .contains("dart master", "dart slave", "dart receiver", "running");
            assertThat(page.evaluate("document.getElementById('state').textContent"))
                    .isEqualTo("Live");
            shouldUpdate(page, job, source);
            shouldServeKeyboardAndScreenReader(page);
            long slave = job.slave.handle().pid();
            job.slave.handle().destroyForcibly();
            job.slave.exitCode();
            page.awaitTrue(
                    "[...document.querySelectorAll('tr.dead')].some(row => row.innerText.includes('%s')"
                                    .formatted(slave)
                            + " && row.innerText.includes('killed'))");
            // The others go on, and so does the page.
            page.awaitTrue("document.querySelectorAll('td.running').length >= 2");
            shouldListErrors(page, job, name);
            watch.terminate();
            assertThat(watch.exitCode()).isZero();
            page.awaitTrue("document.getElementById('state').className === 'lost'");
            assertThat(page.evaluate("document.getElementById('table').innerText"))
                    .contains("dart receiver");
        } finally {
            Path left = CountersFile.jobDirectory(CountersFile.defaultShmDirectory(), name);
            IoUtil.delete(left.toFile(), true);
        }
    }

    private static void shouldUpdate(BrowserSession page, StagingJob job, Path source)
            throws Exception {
        page.evaluate(
                "(window.moved = 0, new MutationObserver(() => {"
                        + " for (const row of document.querySelectorAll('#rows tr:not(.detail)'))"
                        + " if (Number(row.children[4].textContent) > 0) window.moved++;"
                        + " }).observe(document.getElementById('rows'),"
                        + " {subtree: true, childList: true, characterData: true}))");
        for (int i = 0; i < 3; i++) {
            assertThat(job.send(source).exitCode()).isZero();
        }
        // Some sample saw data move.
        page.awaitTrue("window.moved > 0");
    }

    private static void shouldListErrors(BrowserSession page, StagingJob job, String name)
            throws Exception {
        job.receiver.handle().destroyForcibly();
        String master =
                "[...document.querySelectorAll('#errors li')].find(item =>"
                        + " /^dart master \\d+: .*\\(\\d+ times, last /.test(item.textContent))";
        page.awaitTrue(master + " !== undefined");
        page.evaluate("(window.error = " + master + ", window.error.firstChild.open = true)");
        Path folder = CountersFile.jobDirectory(CountersFile.defaultShmDirectory(), name);
        Files.writeString(folder.resolve("other.counters"), "no counters");
        page.awaitTrue(
                "[...document.querySelectorAll('#errors summary')].some(one =>"
                        + " one.textContent.startsWith('cannot be read: other.counters: '))");
        // What a reader has opened stays so, whatever comes before it.
        assertThat(page.evaluate("window.error.isConnected && window.error.firstChild.open"))
                .isEqualTo("true");
        assertThat(page.evaluate("window.error.querySelector('pre').textContent")).contains("at ");
    }

    private static void shouldServeKeyboardAndScreenReader(BrowserSession page) throws Exception {
        // Tab: the link over the heading, then the table's region, then the first button.
        page.press("Tab", 9);
        assertThat(page.evaluate("document.activeElement.className")).isEqualTo("skip");
        page.press("Tab", 9);
        page.press("Tab", 9);
        assertThat(page.evaluate("document.activeElement.tagName")).isEqualTo("BUTTON");
        page.press("Enter", 13);
        page.awaitTrue("document.activeElement.getAttribute('aria-expanded') === 'true'");
        page.awaitTrue("document.querySelectorAll('.detail:not([hidden]) svg').length >= 2");
        // Samples go on: what is focused stays so.
        String rows = page.evaluate("document.querySelectorAll('.detail:not([hidden])').length");
        assertThat(rows).isEqualTo("1");
        page.awaitTrue(
                "/the last ([3-9]|\\d\\d+) samples/.test(document.querySelector('.detail svg').getAttribute('aria-label'))");
        assertThat(page.evaluate("document.activeElement.tagName")).isEqualTo("BUTTON");
        String tree = page.accessibilityTree();
        assertThat(tree)
                .contains("Table of processes", "History and counters of dart master, process ")
                .contains("Histogram, ", "Distinct errors", "\"columnheader\"", "\"rowheader\"")
                .contains("\"status\"");
    }

    /** There are streams for 16 pages. */
    @Test
    void shouldSayThatAPageThatIsRefusedDoesNotGoOn() throws Exception {
        Path browser = HeadlessBrowser.find();
        Assumptions.assumeTrue(browser != null, "Chromium is not installed");
        try (CommandProcess watch = CommandProcess.start(folder, "watch");
                BrowserSession page = new BrowserSession(browser, folder)) {
            String address = address(watch);
            URI uri = URI.create(address);
            List<Socket> open = new ArrayList<>();
            try {
                for (int i = 0; i < 16; i++) {
                    open.add(new Socket("127.0.0.1", uri.getPort()));
                    String request = "GET " + uri.getPath() + "events HTTP/1.1\r\nHost: a\r\n\r\n";
                    open.get(i).getOutputStream().write(request.getBytes(UTF_8));
                    assertThat(open.get(i).getInputStream().read()).isEqualTo('H');
                }
                page.open(address);
                page.awaitTrue("document.getElementById('state')?.className === 'lost'");
                assertThat(page.evaluate("document.getElementById('state').textContent"))
                        .contains("cannot be continued", "Open the address");
            } finally {
                for (Socket each : open) {
                    each.close();
                }
            }
        }
    }

    @Test
    void shouldOnlyBeReadByWhoHasTheToken() throws Exception {
        try (CommandProcess watch = CommandProcess.start(folder, "watch")) {
            String address = address(watch);
            URI uri = URI.create(address);
            assertThat(uri.getHost()).isEqualTo("127.0.0.1");
            assertThat(uri.getPath()).matches("/[\\w-]{22}/");
            HttpResponse<String> page = get(address, "GET");
            assertThat(page.statusCode()).isEqualTo(200);
            // Nothing is loaded from anywhere else.
            assertThat(page.body()).contains("Processes");
            // The name of SVG is no address that is loaded.
            assertThat(page.body().replace("http://www.w3.org/2000/svg", ""))
                    .doesNotContain("http:", "https:", "src=", "@import", "url(");
            assertThat(page.headers().firstValue("Content-Security-Policy").orElseThrow())
                    .startsWith("default-src 'none'; connect-src 'self'");
            String root = "http://127.0.0.1:" + uri.getPort();
            assertThat(get(root + "/", "GET").statusCode()).isEqualTo(404);
            assertThat(get(root + "/events", "GET").statusCode()).isEqualTo(404);
            assertThat(get(address + "../x", "GET").statusCode()).isEqualTo(404);
            assertThat(get(address.replaceFirst("..$", "/"), "GET").statusCode()).isEqualTo(404);
            for (String method : new String[] {"POST", "PUT", "DELETE"}) {
                assertThat(get(address, method).statusCode()).isEqualTo(405);
            }
        }
    }

    /** Requests without an end take no place for long; there are 20. */
    @Test
    void shouldServeWhileOthersBeginRequestsAndGoNoFurther() throws Exception {
        try (CommandProcess watch = CommandProcess.start(folder, "watch")) {
            String address = address(watch);
            List<Socket> open = new ArrayList<>();
            try {
                for (int i = 0; i < 40; i++) {
                    open.add(new Socket("127.0.0.1", URI.create(address).getPort()));
                    open.get(i).getOutputStream().write("GET /".getBytes(UTF_8));
                }
                assertThat(get(address, "GET").statusCode()).isEqualTo(200);
            } finally {
                for (Socket each : open) {
                    each.close();
                }
            }
        }
    }

    private static HttpResponse<String> get(String address, String method) throws Exception {
        return HttpClient.newHttpClient()
                .send(
                        HttpRequest.newBuilder(URI.create(address))
                                .method(method, HttpRequest.BodyPublishers.noBody())
                                .timeout(Duration.ofSeconds(60))
                                .build(),
                        HttpResponse.BodyHandlers.ofString());
    }
}
