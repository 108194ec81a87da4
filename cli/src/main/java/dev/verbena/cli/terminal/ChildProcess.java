package dev.verbena.cli.terminal;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * A process that this one starts: the same Java, the same class or module path, another subcommand.
 * What it prints goes to a log; lines that begin with {@link #MARK} are messages to this process.
 */
public final class ChildProcess {
    /** Begins a line that is meant for the parent. */
    static final String MARK = "@ ";

    /** The main class, by name: what it uses does not know it. */
    public static final String MAIN = "dev.verbena.cli.VerbenaCommand";

    /** Set in a child: end when the parent has ended. */
    static final String END_WITH_PARENT = "verbena.endWithParent";

    private static final int TAIL_LINES = 15;

    private final String name;
    private final Path log;
    private final Process process;
    private final Thread pump;
    private final Deque<String> tail = new ArrayDeque<>();

    private ChildProcess(String name, Path log, Process process, Consumer<String> messages) {
        this.name = name;
        this.log = log;
        this.process = process;
        this.pump = new Thread(() -> pump(messages), "log-" + name);
        pump.setDaemon(true);
        pump.start();
    }

    /**
     * Starts one.
     *
     * @param name for people
     * @param log file for what it prints, or null for none
     * @param variables added to the environment
     * @param jvmOptions options of the JVM
     * @param arguments subcommand and its arguments
     * @param messages gets marked lines without the mark, on a thread of its own
     */
    public static ChildProcess start(
            String name,
            Path log,
            Map<String, String> variables,
            List<String> jvmOptions,
            List<String> arguments,
            Consumer<String> messages) {
        return start(name, log, variables, List.of(), jvmOptions, arguments, messages);
    }

    /**
     * As the other, the command line beginning with {@code prefix}: {@code taskset}, for example.
     */
    public static ChildProcess start(
            String name,
            Path log,
            Map<String, String> variables,
            List<String> prefix,
            List<String> jvmOptions,
            List<String> arguments,
            Consumer<String> messages) {
        List<String> command = new ArrayList<>(prefix);
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.add("-XX:+UseSerialGC");
        command.add("-XX:-UsePerfData");
        command.add("--enable-native-access=ALL-UNNAMED"); // no warnings on newer JDKs
        command.add("-D" + END_WITH_PARENT + "=true");
        command.addAll(compilers());
        command.addAll(jvmOptions);
        command.addAll(program());
        command.addAll(arguments);
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
        builder.environment().putAll(variables);
        try {
            return new ChildProcess(name, log, builder.start(), messages);
        } catch (IOException e) {
            throw new UncheckedIOException("cannot start " + name + ": " + e.getMessage(), e);
        }
    }

    /** Which compilers this JVM was told to use: a test that does without the second one. */
    public static List<String> compilers() {
        return ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
                .filter(option -> option.startsWith("-XX:TieredStopAtLevel="))
                .toList();
    }

    /** This command again, from where this process has it: the class path or the module path. */
    private static List<String> program() {
        Module module = ChildProcess.class.getModule();
        return module.isNamed()
                ? List.of(
                        "--module-path",
                        System.getProperty("jdk.module.path"),
                        "-m",
                        module.getName() + "/" + MAIN)
                : List.of("-cp", System.getProperty("java.class.path"), MAIN);
    }

    private void pump(Consumer<String> messages) {
        try (BufferedReader lines = process.inputReader(StandardCharsets.UTF_8);
                PrintWriter out = log == null ? null : new PrintWriter(log.toFile(), "UTF-8")) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                if (line.startsWith(MARK)) {
                    messages.accept(line.substring(MARK.length()));
                    continue;
                }
                synchronized (tail) {
                    tail.add(line);
                    if (tail.size() > TAIL_LINES) {
                        tail.remove();
                    }
                }
                if (out != null) {
                    out.println(line);
                    out.flush();
                }
            }
        } catch (IOException e) {
            synchronized (tail) {
                tail.add("(its output could not be read: " + e.getMessage() + ")");
            }
        }
    }

    /** Its number. */
    public long pid() {
        return process.pid();
    }

    /** Whether it has not ended. */
    public boolean isAlive() {
        return process.isAlive();
    }

    /** As the JVM knows it. */
    public Process process() {
        return process;
    }

    /** Waits; true if it has ended by itself. */
    public boolean waitFor(long timeoutMs) throws InterruptedException {
        boolean isEnded = process.waitFor(timeoutMs, TimeUnit.MILLISECONDS);
        if (isEnded) {
            pump.join(1000);
        }
        return isEnded;
    }

    /** Of one that has ended. */
    public int exitCode() {
        return process.exitValue();
    }

    /** Asks it to finish its work and end, by ending its standard input; it then exits with 0. */
    public void finish() {
        try {
            process.getOutputStream().close();
        } catch (IOException e) {
            stop();
        }
    }

    /** Asks it to end now: it may clean up. Its output stays readable. */
    public void stop() {
        process.toHandle().destroy();
    }

    /** Ends it at once, as {@code kill -9} does; it can save nothing. */
    public void kill() throws InterruptedException {
        process.toHandle().destroyForcibly();
        process.waitFor();
        pump.join(1000);
    }

    /** Ends it, if it has not by itself within the time. */
    public void end(long timeoutMs) {
        try {
            if (!process.waitFor(timeoutMs, TimeUnit.MILLISECONDS)) {
                process.toHandle().destroyForcibly();
                process.waitFor(5, TimeUnit.SECONDS);
            }
        } catch (InterruptedException e) {
            process.toHandle().destroyForcibly();
            Thread.currentThread().interrupt();
        }
    }

    /** How it ended, with the last lines of its log, for an error message. */
    public String exitSummary() {
        StringBuilder text = new StringBuilder(name + " (process " + pid() + ") ");
        int code = process.isAlive() ? 0 : process.exitValue();
        text.append(
                process.isAlive()
                        ? "does not answer"
                        : code > 128
                                ? "was killed by signal " + (code - 128)
                                : "ended with exit code " + code);
        synchronized (tail) {
            if (!tail.isEmpty()) {
                text.append("; the last lines of its log");
                text.append(log == null ? ":" : " (" + log + "):");
                tail.forEach(line -> text.append("\n  | ").append(line));
            }
        }
        return text.toString();
    }

    /**
     * In a child, called first: ends this process when the parent has ended, whatever the reason.
     *
     * @param onEnd runs before
     */
    public static void endWithParent(Runnable onEnd) {
        if (!Boolean.getBoolean(END_WITH_PARENT)) {
            return;
        }
        Thread watch =
                new Thread(
                        () -> {
                            try {
                                while (System.in.read() >= 0) {
                                    continue;
                                }
                            } catch (IOException e) {
                                System.err.println("standard input: " + e.getMessage());
                            }
                            onEnd.run();
                        },
                        "parent-watch");
        watch.setDaemon(true);
        watch.start();
    }

    /** In a child: a message to the parent. In a program that a person started: nothing. */
    public static void sendToParent(String message) {
        if (!Boolean.getBoolean(END_WITH_PARENT)) {
            return;
        }
        synchronized (System.out) {
            System.out.println(MARK + message);
            System.out.flush();
        }
    }

    /** Whether a file exists and is not empty, for waiting. */
    public static boolean isThere(Path path) {
        try {
            return Files.size(path) > 0;
        } catch (IOException e) {
            return false;
        }
    }
}
