package dev.verbena.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/** The command as a process of its own, as a user starts it. */
public final class CommandProcess implements AutoCloseable {
    private final Process process;
    private final Path out;

    private CommandProcess(Process process, Path out) {
        this.process = process;
        this.out = out;
    }

    /** Starts it; what it prints goes to a file in {@code folder}. */
    public static CommandProcess start(Path folder, String... arguments) throws IOException {
        return start(folder, Map.of(), arguments);
    }

    /** With these variables in its environment. */
    public static CommandProcess start(
            Path folder, Map<String, String> variables, String... arguments) throws IOException {
        // Tests that a shell started in the background ignore Ctrl-C, and so would what they start.
        List<String> command = new ArrayList<>(List.of("env", "--default-signal=INT"));
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        // Where decimals have a comma: none that is printed has one.
        command.add("-Duser.language=de");
        command.add("-XX:+UseSerialGC");
        command.add("-XX:TieredStopAtLevel=1");
        command.add("-Djava.io.tmpdir=" + System.getProperty("java.io.tmpdir"));
        command.add("-cp");
        command.add(System.getProperty("java.class.path"));
        command.add(VerbenaCommand.class.getName());
        command.addAll(List.of(arguments));
        Path out = Files.createTempFile(folder, "out", ".txt");
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
        builder.redirectOutput(out.toFile());
        builder.environment().putAll(variables);
        return new CommandProcess(builder.start(), out);
    }

    /** Runs it to the end. */
    public static CommandProcess run(Path folder, String... arguments) throws Exception {
        CommandProcess command = start(folder, arguments);
        command.exitCode();
        return command;
    }

    public String out() throws IOException {
        return Files.readString(out);
    }

    public ProcessHandle handle() {
        return process.toHandle();
    }

    public int exitCode() throws Exception {
        return exitCode(90);
    }

    public int exitCode(int timeoutSeconds) throws Exception {
        boolean isEnded = process.waitFor(timeoutSeconds, TimeUnit.SECONDS);
        if (!isEnded) {
            process.descendants().forEach(ProcessHandle::destroyForcibly);
            process.destroyForcibly().waitFor();
        }
        assertThat(isEnded).as("it does not end; it printed: %s", out()).isTrue();
        return process.exitValue();
    }

    /** Waits until it has printed this; fails with what it printed instead. */
    public String awaitOut(String text) throws Exception {
        await(
                () -> {
                    try {
                        return out().contains(text);
                    } catch (IOException e) {
                        throw new java.io.UncheckedIOException(e);
                    }
                },
                "print '" + text + "'");
        return out();
    }

    public void await(BooleanSupplier condition, String what) throws Exception {
        long deadlineNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
        while (!condition.getAsBoolean()) {
            boolean isLate = System.nanoTime() - deadlineNs > 0;
            if (isLate || !process.isAlive() && !condition.getAsBoolean()) {
                throw new AssertionError("it does not " + what + "; it printed: " + out());
            }
            Thread.sleep(10);
        }
    }

    /** Asks it to end, as Ctrl-C does. */
    public void terminate() {
        process.destroy();
    }

    @Override
    public void close() throws Exception {
        process.destroy();
        if (!process.waitFor(15, TimeUnit.SECONDS)) {
            process.descendants().forEach(ProcessHandle::destroyForcibly);
            process.destroyForcibly().waitFor();
        }
    }
}
