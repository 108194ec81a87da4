package dev.verbena.jmh;

import dev.verbena.cli.terminal.ThisMachine;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** What figures depend on: processor, systems, versions and the day, for docs/benchmarks.md. */
final class Surroundings {
    private Surroundings() {}

    /** In one line, ended by a full stop. */
    static String line() throws IOException {
        return String.format(
                "%s, %s processors, Linux %s, Java %s, UCX %s, software NIC, %s.",
                ThisMachine.processor(),
                Runtime.getRuntime().availableProcessors(),
                System.getProperty("os.version"),
                System.getProperty("java.version"),
                ucxVersion(),
                LocalDate.now(ZoneOffset.UTC));
    }

    private static String ucxVersion() throws IOException {
        try {
            Process info = new ProcessBuilder("ucx_info", "-v").start();
            String text = new String(info.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            Matcher version = Pattern.compile("ersion:? ([0-9.]+)").matcher(text);
            return version.find() ? version.group(1) : "unknown";
        } catch (IOException e) {
            return "absent";
        }
    }
}
