package dev.verbena.cli.chaos;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A process of the run, which can be frozen and killed; what it prints goes to a file. */
final class ChaosProcess {
    final String name;
    final Path log;
    private final Process process;
    private boolean isFrozen;

    private ChaosProcess(String name, Path log, Process process) {
        this.name = name;
        this.log = log;
        this.process = process;
    }

    /** Starts Java with this main class. It ends, by itself, when this process has ended. */
    static ChaosProcess start(
            Path folder, String name, List<String> prefix, Class<?> main, List<String> arguments) {
        Path log = folder.resolve(name + ".log");
        List<String> command = new ArrayList<>(prefix);
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(
                List.of(
                        "-XX:+UseSerialGC",
                        "-XX:TieredStopAtLevel=1",
                        "-XX:-UsePerfData",
                        "-Xmx256m",
                        "-XX:ErrorFile=" + folder.resolve("hs_err_" + name + ".log"),
                        "-Dverbena.endWithParent=true",
                        "-cp",
                        System.getProperty("java.class.path"),
                        main.getName()));
        command.addAll(arguments);
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
        builder.directory(folder.toFile()).redirectOutput(log.toFile());
        try {
            return new ChaosProcess(name, log, builder.start());
        } catch (IOException e) {
            throw new UncheckedIOException("cannot start " + name, e);
        }
    }

    String out() {
        try {
            return Files.readString(log);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    boolean isAlive() {
        return process.isAlive();
    }

    long pid() {
        return process.pid();
    }

    int exitCode() {
        return process.exitValue();
    }

    /** The rest of the first line that begins so. */
    String awaitLine(String begin) throws InterruptedException {
        long deadlineNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(90);
        while (true) {
            boolean isOver = !isAlive() || System.nanoTime() - deadlineNs > 0;
            for (String line : out().split("\n")) {
                if (line.startsWith(begin)) {
                    return line.substring(begin.length()).strip();
                }
            }
            if (isOver) {
                throw new AssertionError(name + " does not print '" + begin + "' but: " + tail());
            }
            Thread.sleep(20);
        }
    }

    /** Until it has printed this somewhere. */
    void awaitText(String text) throws InterruptedException {
        long deadlineNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(90);
        while (!out().contains(text)) {
            if (!isAlive() || System.nanoTime() - deadlineNs > 0) {
                throw new AssertionError(name + " does not print '" + text + "' but: " + tail());
            }
            Thread.sleep(20);
        }
    }

    /** The last lines of what it printed. */
    String tail() {
        String[] lines = out().split("\n");
        StringBuilder text = new StringBuilder();
        for (int i = Math.max(0, lines.length - 12); i < lines.length; i++) {
            text.append("\n  | ").append(lines[i]);
        }
        return text.toString();
    }

    private void signal(String which) {
        try {
            new ProcessBuilder("kill", which, Long.toString(process.pid())).start().waitFor();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    void freeze() {
        if (isAlive() && !isFrozen) {
            isFrozen = true;
            signal("-STOP");
        }
    }

    void thaw() {
        if (isFrozen) {
            isFrozen = false;
            signal("-CONT");
        }
    }

    void kill() throws InterruptedException {
        process.destroyForcibly().waitFor();
    }

    /**
     * The first of the signals that end a program in order. (Java's own way also ends the standard
     * input, which our programs take for the end of their parent, and the signal for a second one.)
     */
    void terminate() {
        signal("-TERM");
    }

    /** Ends its standard input. */
    void finish() {
        try {
            process.getOutputStream().close();
        } catch (IOException e) {
            // It has ended.
        }
    }

    /** True if it ends by itself; else a thread dump is added to its log and it is killed. */
    boolean awaitEnd(long seconds) throws InterruptedException {
        if (process.waitFor(seconds, TimeUnit.SECONDS)) {
            return true;
        }
        dumpThreads();
        kill();
        return false;
    }

    /** Adds a thread dump to its log. */
    void dumpThreads() throws InterruptedException {
        signal("-QUIT");
        Thread.sleep(1_000);
    }

    @Override
    public String toString() {
        return name + ", process " + pid();
    }
}
