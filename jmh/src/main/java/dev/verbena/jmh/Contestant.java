package dev.verbena.jmh;

import dev.verbena.cli.terminal.Termination;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A program that takes one sample: it is run, and a number is taken from what it prints.
 *
 * @param name for the report
 * @param command program and arguments, as they would be typed
 * @param environment variables set for it
 * @param number where the number is: the last match's first group
 * @param scale multiplies the number into the comparison's unit
 */
record Contestant(
        String name,
        List<String> command,
        Map<String, String> environment,
        Pattern number,
        double scale) {
    private static final long TIMEOUT_SECONDS = 120;
    private static final Pattern ABSENT = Pattern.compile("(\\S+): (?:command )?not found");

    /** The same with another scale. */
    Contestant scaled(double factor) {
        return giving(number, scale * factor);
    }

    /** The same with another of the numbers that it prints. */
    Contestant giving(Pattern figure, double factor) {
        return new Contestant(name, command, environment, figure, factor);
    }

    /** The same with more arguments. */
    Contestant with(String... arguments) {
        List<String> longer = new ArrayList<>(command);
        longer.addAll(List.of(arguments));
        return new Contestant(name, longer, environment, number, scale);
    }

    /**
     * One sample.
     *
     * @throws IOException with the program's output if it fails, says nothing, or hangs
     */
    double sample() throws IOException, InterruptedException {
        return number(output(TIMEOUT_SECONDS));
    }

    /**
     * The number in what the program printed.
     *
     * @throws IOException if there is none
     */
    double number(String output) throws IOException {
        double value = Double.NaN;
        Matcher matcher = number.matcher(output);
        while (matcher.find()) {
            value = Double.parseDouble(matcher.group(1)) * scale;
        }
        if (Double.isNaN(value)) {
            throw failure(0, output);
        }
        return value;
    }

    /** All that one run prints, for who takes several figures from it; otherwise as a sample. */
    String output() throws IOException, InterruptedException {
        return output(TIMEOUT_SECONDS);
    }

    /** As {@link #output()}, for programs that take longer. */
    String output(long timeoutSeconds) throws IOException, InterruptedException {
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
        builder.environment().putAll(environment);
        Thread hook = new Thread(Contestant::endAll, "sample-end");
        Runtime.getRuntime().addShutdownHook(hook);
        String output;
        int exitCode;
        try {
            Process process = builder.start();
            process.getOutputStream().close();
            Thread watchdog = watch(process, timeoutSeconds);
            output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            exitCode = process.waitFor();
            watchdog.interrupt();
        } finally {
            Termination.forget(hook);
        }
        Matcher absent = ABSENT.matcher(output);
        if (absent.find()) {
            throw new IOException(name + ": " + absent.group(1) + " is not installed");
        }
        if (exitCode != 0) {
            throw failure(exitCode, output);
        }
        return output;
    }

    private static void endAll() {
        ProcessHandle.current().descendants().forEach(ProcessHandle::destroy);
    }

    private IOException failure(int exitCode, String output) {
        return new IOException(
                name + ": exit code " + exitCode + ", no figure in: " + output.strip());
    }

    private static Thread watch(Process process, long timeoutSeconds) {
        Thread watchdog =
                new Thread(
                        () -> {
                            try {
                                if (!process.waitFor(timeoutSeconds, TimeUnit.SECONDS)) {
                                    process.descendants().forEach(ProcessHandle::destroyForcibly);
                                    process.destroyForcibly();
                                }
                            } catch (InterruptedException e) {
                                Thread.currentThread().interrupt();
                            }
                        },
                        "sample-watchdog");
        watchdog.setDaemon(true);
        watchdog.start();
        return watchdog;
    }

    /** The same under a name that says how it is set. */
    Contestant named(String name) {
        return new Contestant(name, command, environment, number, scale);
    }

    /** The same with more variables. */
    Contestant with(Map<String, String> variables) {
        Map<String, String> all = new TreeMap<>(environment);
        all.putAll(variables);
        return new Contestant(name, command, all, number, scale);
    }

    /** As it would be typed, without the paths of this machine. */
    String commandLine() {
        StringBuilder line = new StringBuilder();
        new TreeMap<>(environment)
                .forEach((key, value) -> line.append(key).append('=').append(value).append(' '));
        for (String word : command) {
            String text = word.replace(System.getProperty("java.class.path"), "CLASSPATH");
            text = text.replace(System.getProperty("java.home") + "/bin/", "");
            line.append(text.startsWith("/") ? Path.of(text).getFileName() : text).append(' ');
        }
        return line.toString().strip();
    }
}
