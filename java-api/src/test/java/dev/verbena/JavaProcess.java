package dev.verbena;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/** A process of its own that runs the {@code main} of the subclass, to be killed. */
public abstract class JavaProcess implements AutoCloseable {
    private final Process process;
    private final BufferedReader out;

    /** Starts it. */
    protected JavaProcess(String... arguments) throws IOException {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(List.of("-Xmx256m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"));
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), getClass().getName()));
        command.addAll(List.of(arguments));
        process = new ProcessBuilder(command).redirectErrorStream(true).start();
        out = new BufferedReader(new InputStreamReader(process.getInputStream()));
    }

    /** Reads on to the line that begins like this; what follows there. */
    public final String await(String word) throws IOException {
        StringBuilder all = new StringBuilder();
        String line;
        while ((line = out.readLine()) != null) {
            if (line.startsWith(word)) {
                return line.substring(word.length());
            }
            all.append(line).append('\n');
        }
        throw new AssertionError("no line '" + word + "' but:\n" + all);
    }

    /** What it prints from here on; waits for its end. */
    public final String output() {
        return out.lines().collect(Collectors.joining("\n"));
    }

    public final boolean isAlive() {
        return process.isAlive();
    }

    public final int exitCode() throws InterruptedException {
        return process.waitFor();
    }

    /** Sends a signal by its name, STOP for example. */
    public final void signal(String name) throws IOException, InterruptedException {
        new ProcessBuilder("kill", "-" + name, Long.toString(process.pid())).start().waitFor();
    }

    /** {@code kill -9}, and waits until the process is no more. */
    public final void kill() throws InterruptedException {
        process.destroyForcibly().waitFor();
    }

    @Override
    public final void close() throws InterruptedException {
        kill();
    }
}
