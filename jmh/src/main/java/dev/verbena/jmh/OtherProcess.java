package dev.verbena.jmh;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * The other side of a measurement, on processor 1. It ends when its input closes, so also when this
 * process is killed.
 */
final class OtherProcess implements AutoCloseable {
    private static final long PATIENCE_SECONDS = 20;

    private final Process process;
    private final BufferedReader lines;

    private OtherProcess(Process process) {
        this.process = process;
        this.lines =
                new BufferedReader(
                        new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
    }

    static OtherProcess start(Class<?> type, String... arguments) throws IOException {
        List<String> command = new ArrayList<>(List.of("taskset", "-c", "1", Contestants.JAVA));
        command.addAll(List.of("-XX:+UseSerialGC", "-cp", Contestants.CLASS_PATH));
        command.add(type.getName());
        command.addAll(List.of(arguments));
        return new OtherProcess(
                new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start());
    }

    /** In the other process: returns when the first one has closed its end. */
    static void awaitEndOfInput() throws IOException {
        System.in.transferTo(OutputStream.nullOutputStream());
    }

    String line() throws IOException {
        String line = lines.readLine();
        if (line == null) {
            throw new IOException("the other process has ended");
        }
        return line;
    }

    /** Closes its input; the line that it then prints. */
    String end() throws IOException {
        process.getOutputStream().close();
        return line();
    }

    @Override
    public void close() throws IOException {
        process.getOutputStream().close();
        try {
            if (!process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
                process.destroyForcibly();
            }
        } catch (InterruptedException e) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
        }
    }
}
