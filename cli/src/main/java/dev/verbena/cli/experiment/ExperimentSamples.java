package dev.verbena.cli.experiment;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;

/**
 * What every output call of every process cost: th, tw and tt of the paper, nanoseconds. Each
 * process writes its own row; read when all are done.
 */
final class ExperimentSamples {
    /** Time to send the header: with a restart file the sum over its items. */
    static final int HEADER = 0;

    /** Time waiting for an earlier message. */
    static final int WAIT = 1;

    /** Whole time in the output calls of a step. */
    static final int TOTAL = 2;

    private static final int FIELDS = 3;
    private static final String TITLE = "process,step,th_ns,tw_ns,tt_ns";

    private final int clients;
    private final int steps;
    private final long[] values;

    ExperimentSamples(int clients, int steps) {
        this.clients = clients;
        this.steps = steps;
        this.values = new long[clients * steps * FIELDS];
    }

    private int at(int client, int step, int field) {
        return (client * steps + step) * FIELDS + field;
    }

    void set(int client, int step, long headerNs, long waitNs, long totalNs) {
        values[at(client, step, HEADER)] = headerNs;
        values[at(client, step, WAIT)] = waitNs;
        values[at(client, step, TOTAL)] = totalNs;
    }

    /** Mean over all processes and the steps from this one on, ns. */
    double mean(int field, int firstStep) {
        return Arrays.stream(all(field, firstStep)).average().orElse(0);
    }

    /** The value that this share (0 to 100) of all calls does not exceed, ns. */
    long percentile(int field, int firstStep, double share) {
        long[] sorted = all(field, firstStep);
        Arrays.sort(sorted);
        int at = (int) Math.ceil(share / 100 * sorted.length) - 1;
        return sorted.length == 0 ? 0 : sorted[Math.max(0, Math.min(sorted.length - 1, at))];
    }

    /** Sum over the steps of one process, ns. */
    long sum(int client, int field, int firstStep) {
        long sum = 0;
        for (int step = firstStep; step < steps; step++) {
            sum += values[at(client, step, field)];
        }
        return sum;
    }

    private long[] all(int field, int firstStep) {
        int first = Math.min(firstStep, steps);
        long[] found = new long[clients * (steps - first)];
        int count = 0;
        for (int client = 0; client < clients; client++) {
            for (int step = first; step < steps; step++) {
                found[count++] = values[at(client, step, field)];
            }
        }
        return found;
    }

    void write(Path file) throws IOException {
        try (PrintWriter out = new PrintWriter(Files.newBufferedWriter(file))) {
            out.println(TITLE);
            for (int client = 0; client < clients; client++) {
                for (int step = 0; step < steps; step++) {
                    int at = at(client, step, 0);
                    out.println(
                            "%s,%s,%s,%s,%s"
                                    .formatted(
                                            client,
                                            step,
                                            values[at],
                                            values[at + WAIT],
                                            values[at + TOTAL]));
                }
            }
            if (out.checkError()) {
                throw new IOException(file + " cannot be written");
            }
        }
    }

    static ExperimentSamples read(Path file, int clients, int steps) throws IOException {
        List<String> lines = Files.readAllLines(file);
        if (lines.size() != clients * steps + 1 || !lines.get(0).equals(TITLE)) {
            throw new IOException(file + " does not hold the samples of " + clients * steps);
        }
        ExperimentSamples samples = new ExperimentSamples(clients, steps);
        for (int i = 1; i < lines.size(); i++) {
            String[] fields = lines.get(i).split(",");
            for (int field = 0; field < FIELDS; field++) {
                samples.values[(i - 1) * FIELDS + field] = Long.parseLong(fields[2 + field]);
            }
        }
        return samples;
    }
}
