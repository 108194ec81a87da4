package dev.verbena.cli.status;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.HeadlessBrowser;
import dev.verbena.cli.CommandProcess;
import dev.verbena.memory.OffHeapMemories;
import dev.verbena.memory.OffHeapMemory;
import dev.verbena.savime.ElementType;
import dev.verbena.savime.StagingServer;
import dev.verbena.staging.metadata.PieceMetadata;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Pictures of a staging server's newest steps on the page of {@code verbena watch}. */
@Timeout(300)
class WatchPicturesIT {
    private static final int ROWS = 40;
    private static final int COLUMNS = 60;
    private static final long BYTES = 8L * ROWS * COLUMNS;

    @TempDir private Path folder;
    private final Map<String, String> job =
            Map.of("VERBENA_JOB", "watch-pictures-" + ProcessHandle.current().pid());

    private static String found(CommandProcess process, String pattern) throws Exception {
        Matcher matcher = Pattern.compile(pattern).matcher(process.out());
        assertThat(matcher.find()).as(process.out()).isTrue();
        return matcher.group(1);
    }

    /** Two halves of an array that slopes. */
    private static void send(CommandProcess server, long step) throws Exception {
        String address = found(server, "ready: (127\\.0\\.0\\.1:[0-9]+)");
        try (StagingServer client = StagingServer.connect(address);
                OffHeapMemory array = OffHeapMemories.allocate(BYTES)) {
            for (int i = 0; i < ROWS * COLUMNS; i++) {
                array.buffer(0, (int) BYTES).putDouble(8 * i, i * step, ByteOrder.LITTLE_ENDIAN);
            }
            for (int rank = 0; rank < 2; rank++) {
                client.dataset("t" + step + "half" + rank, ElementType.DOUBLE)
                        .piece(
                                new PieceMetadata(
                                        "Temperature",
                                        step,
                                        rank,
                                        new long[] {ROWS, COLUMNS},
                                        new long[] {rank * (ROWS / 2), 0},
                                        new long[] {ROWS / 2, COLUMNS}))
                        .write(array, rank * BYTES / 2, BYTES / 2);
            }
            client.sync();
            client.drain(Duration.ofSeconds(60));
        }
    }

    private CommandProcess start(String... arguments) throws Exception {
        return CommandProcess.start(folder, job, arguments);
    }

    @Test
    void shouldShowTheNewestFieldsAndKeepThoseOfAKilledProcess() throws Exception {
        Path browser = HeadlessBrowser.find();
        Assumptions.assumeTrue(browser != null, "Chromium is not installed");
        try (CommandProcess server =
                        start(
                                "stage",
                                "server",
                                "--listen=127.0.0.1:0",
                                "--disk=" + folder.resolve("disk"),
                                "--sink=file:" + folder.resolve("sink"),
                                "--pictures");
                CommandProcess watch =
                        start("watch", "--job=" + job.get("VERBENA_JOB"), "--interval=0.2");
                BrowserSession page = new BrowserSession(browser, folder)) {
            server.awaitOut("staging server ready");
            watch.awaitOut("/\n");
            page.open(found(watch, "(http://\\S+)"));
            page.awaitTrue("document.querySelectorAll('td.running').length === 1");
            assertThat(page.evaluate("document.getElementById('newest').hidden")).isEqualTo("true");
            send(server, 7);
            String of = "of stage server, process " + server.handle().pid();
            shouldShow(page, "Temperature, step 7, " + of);
            String before = page.evaluate("document.querySelector('#fields img').src");
            // At most one picture a second is made, so that a step may be left out.
            for (long step = 8; page.evaluate(altIs("step 7, ")).equals("true"); step++) {
                send(server, step);
            }
            assertThat(page.evaluate("document.querySelector('#fields img').src"))
                    .isNotEqualTo(before);
            String alt = page.evaluate("document.querySelector('#fields img').alt");
            shouldShow(page, alt);
            assertThat(page.accessibilityTree()).contains("Newest fields", of);

            server.handle().destroyForcibly();
            server.exitCode();
            page.awaitTrue(
                    "document.querySelector('#fields figcaption').textContent.includes('killed')");
            shouldShow(page, alt);
        }
        CommandProcess.start(folder, job, "errors", "--job=" + job.get("VERBENA_JOB"), "--remove")
                .exitCode();
    }

    private static String altIs(String part) {
        return "document.querySelector('#fields img').alt.includes('" + part + "')";
    }

    private static void shouldShow(BrowserSession page, String alt) throws Exception {
        page.awaitTrue(
                "[...document.querySelectorAll('#newest:not([hidden]) #fields img')].some(image =>"
                        + " image.alt === '%s' && image.complete && image.naturalWidth > 0)"
                                .formatted(alt));
    }
}
