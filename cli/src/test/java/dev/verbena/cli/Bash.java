package dev.verbena.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

/** A piece of shell that has ended: its exit code, and what it printed. */
public record Bash(int code, String text) {
    /** The project's scripts. */
    public static final Path CI =
            Path.of(System.getProperty("verbena.home", "..")).resolve("ci").toAbsolutePath();

    /** Runs it in this folder, for at most 45 s. */
    public static Bash run(Path folder, String script) throws IOException, InterruptedException {
        return run(folder, script, 45);
    }

    public static Bash run(Path folder, String script, int seconds)
            throws IOException, InterruptedException {
        Path out = folder.resolve("out.txt");
        Process process =
                new ProcessBuilder("bash", "-c", script)
                        .directory(folder.toFile())
                        .redirectErrorStream(true)
                        .redirectOutput(out.toFile())
                        .start();
        boolean isEnded = process.waitFor(seconds, TimeUnit.SECONDS);
        process.descendants().forEach(ProcessHandle::destroyForcibly);
        process.destroyForcibly();
        assertThat(isEnded).as("it does not end: %s", Files.readString(out)).isTrue();
        return new Bash(process.exitValue(), Files.readString(out));
    }
}
