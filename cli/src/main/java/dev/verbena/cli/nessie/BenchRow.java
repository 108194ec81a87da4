package dev.verbena.cli.nessie;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.verbena.cli.terminal.ChildProcess;
import dev.verbena.cli.terminal.Messages;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.DoubleUnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * One line of the table of {@code nessie bench}: a program that prints a figure. One thread.
 *
 * @param program where its figures come from
 * @param base what it is compared with, or null
 * @param x where it is on a line of a picture; 0: on none
 * @param samples what was measured
 */
record BenchRow(
        String group,
        String name,
        String unit,
        Program program,
        BenchRow base,
        int x,
        List<Double> samples) {
    private static final long LIMIT_MS = 120_000;

    /** Something that is measured. */
    interface Program {
        /**
         * Measures it once.
         *
         * @param folder where its output is kept for the time being
         * @throws Messages.Failure with what it printed, if it failed
         */
        double measure(Path folder) throws IOException, InterruptedException;
    }

    BenchRow(String group, String name, String unit, Program program, BenchRow base, int x) {
        this(group, name, unit, program, base, x, new ArrayList<>());
    }

    /**
     * A command of this program.
     *
     * @param figure with a group for the figure, the last one that is found counts
     * @param scale what it is multiplied by
     */
    static Program command(List<String> words, String figure, double scale) {
        return command(words, figure, found -> scale * found);
    }

    /** As the other. */
    static Program command(List<String> words, String figure, DoubleUnaryOperator meaning) {
        return folder -> {
            Path log = folder.resolve("output");
            String name = String.join(" ", words);
            ChildProcess child =
                    ChildProcess.start(name, log, Map.of(), List.of("-Xmx512m"), words, line -> {});
            try {
                boolean isEnded = child.waitFor(LIMIT_MS);
                if (!isEnded || child.exitCode() != 0) {
                    throw new Messages.Failure(name + ": " + child.exitSummary());
                }
                return meaning.applyAsDouble(figureOf(Files.readString(log), figure, name));
            } finally {
                child.end(1000);
                Files.deleteIfExists(log);
            }
        };
    }

    /** As {@link #command}, of another program. */
    static Program foreign(List<String> command, String figure, double scale) {
        return folder -> {
            Path log = folder.resolve("output");
            try {
                return scale * figureOf(output(command, log), figure, String.join(" ", command));
            } finally {
                Files.deleteIfExists(log);
            }
        };
    }

    /** What a program printed; one that takes too long ends with what it started. */
    private static String output(List<String> command, Path log)
            throws IOException, InterruptedException {
        Process process =
                new ProcessBuilder(command)
                        .redirectErrorStream(true)
                        .redirectOutput(log.toFile())
                        .start();
        try {
            process.getOutputStream().close();
            boolean isEnded = process.waitFor(LIMIT_MS, TimeUnit.MILLISECONDS);
            String text = new String(Files.readAllBytes(log), UTF_8);
            if (isEnded && process.exitValue() == 0) {
                return text;
            }
            String how =
                    isEnded
                            ? "ended with " + process.exitValue()
                            : "has run for " + LIMIT_MS / 1000 + " s";
            throw new Messages.Failure("%s %s: %s", String.join(" ", command), how, lines(text));
        } finally {
            process.descendants().forEach(ProcessHandle::destroyForcibly);
            process.destroyForcibly().waitFor();
        }
    }

    private static String lines(String text) {
        return Arrays.toString(text.split("\n"));
    }

    private static double figureOf(String text, String figure, String name) {
        Matcher matcher = Pattern.compile(figure).matcher(text);
        String found = null;
        while (matcher.find()) {
            found = matcher.group(1);
        }
        if (found == null) {
            throw new Messages.Failure("%s: no figure in: %s", name, lines(text));
        }
        return Double.parseDouble(found);
    }

    /** Whether it is a point of this line, over clients or bytes. */
    boolean isOfLine(String line, String over) {
        return x > 0 && name.startsWith(line + ", " + over);
    }

    /** What it is compared with, if that was measured, or null. */
    BenchRow measuredBase() {
        return base == null || base.samples.isEmpty() ? null : base;
    }

    /** Median of the samples. */
    double value() {
        double[] sorted = samples.stream().mapToDouble(Double::doubleValue).sorted().toArray();
        return sorted[sorted.length / 2];
    }

    /** Takes a sample. */
    void measure(Path folder) throws IOException, InterruptedException {
        samples.add(program.measure(folder));
    }
}
