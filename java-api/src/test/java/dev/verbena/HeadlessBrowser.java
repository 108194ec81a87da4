package dev.verbena;

import static org.assertj.core.api.Assertions.assertThat;

import java.awt.image.BufferedImage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import javax.imageio.ImageIO;

/** Debian's Chromium without a window, which reads or paints a page. */
public final class HeadlessBrowser {
    private static final int TIMEOUT_S = 60;

    private HeadlessBrowser() {}

    /** The program, or null. */
    public static Path find() {
        return List.of(Path.of("/usr/bin/chromium"), Path.of("/usr/bin/chromium-browser")).stream()
                .filter(Files::isExecutable)
                .findFirst()
                .orElse(null);
    }

    /** The page's elements after its scripts have run. */
    public static String dump(Path browser, Path page, Path folder) throws Exception {
        Path out = folder.resolve("dom.txt");
        run(browser, page, folder, "--dump-dom", ProcessBuilder.Redirect.to(out.toFile()));
        return Files.readString(out);
    }

    /** How many different colours the painted page has: text alone has few, pictures many. */
    public static int colours(Path browser, Path page, Path folder) throws Exception {
        Path picture = folder.resolve("page.png");
        run(browser, page, folder, "--screenshot=" + picture, ProcessBuilder.Redirect.DISCARD);
        BufferedImage image = ImageIO.read(picture.toFile());
        Set<Integer> colours = new HashSet<>();
        for (int y = 0; y < image.getHeight(); y++) {
            for (int x = 0; x < image.getWidth(); x++) {
                colours.add(image.getRGB(x, y));
            }
        }
        return colours.size();
    }

    /**
     * Starts it with an empty page and a port for programs, which it writes to the file
     * DevToolsActivePort in its profile. The caller ends it.
     */
    public static Process start(Path browser, Path profile) throws IOException {
        return process(browser, profile, "--remote-debugging-port=0", "about:blank")
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start();
    }

    private static ProcessBuilder process(Path browser, Path profile, String... arguments) {
        List<String> command =
                new ArrayList<>(
                        List.of(
                                browser.toString(),
                                "--headless",
                                "--no-sandbox",
                                "--disable-gpu",
                                "--disable-quic",
                                "--no-first-run",
                                "--disable-background-networking",
                                "--disable-component-update",
                                "--disable-sync",
                                "--user-data-dir=" + profile,
                                "--window-size=1240,3200"));
        command.addAll(List.of(arguments));
        ProcessBuilder builder = new ProcessBuilder(command);
        // One that is killed leaves folders there.
        builder.environment().put("TMPDIR", profile.getParent().toString());
        return builder.redirectError(ProcessBuilder.Redirect.DISCARD);
    }

    private static void run(
            Path browser, Path page, Path folder, String what, ProcessBuilder.Redirect output)
            throws Exception {
        Process process =
                process(
                                browser,
                                folder.resolve("profile"),
                                "--virtual-time-budget=2000",
                                what,
                                page.toUri().toString())
                        .redirectOutput(output)
                        .start();
        try {
            assertThat(process.waitFor(TIMEOUT_S, TimeUnit.SECONDS))
                    .as("the browser ended")
                    .isTrue();
        } finally {
            process.descendants().forEach(ProcessHandle::destroyForcibly);
            process.destroyForcibly().waitFor();
        }
    }
}
