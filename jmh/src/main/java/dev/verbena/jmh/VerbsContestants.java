package dev.verbena.jmh;

import dev.verbena.cli.VerbenaCommand;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Who measures the same over one device: Java, perftest, the twin in C. Both sides of Java's are
 * threads of this process, both sides of the twin's threads of another, perftest's two processes.
 * None sends inline. Answers are microseconds, or MiB/s. One thread.
 */
final class VerbsContestants {
    private static final int TRIES = 6;
    private static final long LIMIT_SECONDS = 120;
    private static final long LOOK_NS = 5_000_000;
    private static final Pattern PORT = Pattern.compile("waiting for a client on port (\\d+)");
    private static final Pattern JSON_FIGURE =
            Pattern.compile("\"(?:t_typical|BW_average)\": ([0-9.]+)");

    private final String twin;
    private final String device;
    private final int gidIndex;
    private int runsAgain;

    VerbsContestants(String twin, String device, int gidIndex) {
        this.twin = twin;
        this.device = device;
        this.gidIndex = gidIndex;
    }

    String device() {
        return device;
    }

    /** How often perftest gave no figure. */
    int runsAgain() {
        return runsAgain;
    }

    double twin(String tool, int size, int count) throws IOException, InterruptedException {
        List<String> command =
                List.of(twin, tool, device, "" + gidIndex, "" + size, Integer.toString(count));
        return new Contestant("C twin", command, Map.of(), Pattern.compile("([0-9.]+)"), 1)
                .sample();
    }

    /** Once more while its clock is not calibrated, which shows as "inf", "nan" or nothing. */
    double perftest(String tool, int size, int count) throws IOException, InterruptedException {
        String common = "-F -d " + device + " -x " + gidIndex + " -s " + size + " -n " + count;
        // Only these two would send inline unasked.
        String inline = tool.matches("(write|send)_lat") ? " -I 0" : "";
        String program = "ib_" + tool + " " + common + inline;
        Pattern figure = figure(tool, size, count);
        return firstFigure(
                program,
                () -> {
                    List<String> command = List.of("bash", "-c", pair(program, freePort()));
                    return new Contestant(tool, command, Map.of(), figure, 1).sample();
                });
    }

    /**
     * Where perftest prints it: of latencies the third figure is the typical one, of bandwidths the
     * second the average. Words such as "inf" are no figures.
     */
    static Pattern figure(String tool, int size, int count) {
        String skipped = "(?:\\s+[0-9.]+){" + (tool.endsWith("lat") ? 2 : 1) + "}";
        return Pattern.compile("(?m)^\\s*" + size + "\\s+" + count + skipped + "\\s+([0-9.]+)\\s");
    }

    /** One run. */
    interface Run {
        double sample() throws IOException, InterruptedException;
    }

    /** Runs until there is a figure above 0, at most {@link #TRIES} times. */
    double firstFigure(String program, Run run) throws IOException, InterruptedException {
        IOException failure = null;
        for (int i = 0; i < TRIES; i++) {
            try {
                double value = run.sample();
                if (value > 0) {
                    return value;
                }
                failure = new IOException(program + " printed 0");
            } catch (IOException e) {
                failure = e;
            }
            runsAgain++;
        }
        throw new IOException("perftest gave no figure in " + TRIES + " runs", failure);
    }

    /** A server in the background, and as soon as it listens its client, whose output counts. */
    static String pair(String program, int port) {
        String listens =
                String.format("grep -qE '^ *[0-9]+: [0-9A-F]+:%04X .* 0A ' /proc/net/tcp", port);
        return (Contestants.ENDS_SERVER
                        + "%s -p %s >/dev/null 2>&1 & server=$!; for i in $(seq 300); do %s && break; sleep "
                        + "0.1; done; %s -p %s 127.0.0.1; code=$?; wait; exit $code")
                .formatted(program, port, listens, program, port);
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0)) {
            return socket.getLocalPort();
        }
    }

    double java(String tool, int size, int count) throws Exception {
        String[] words = tool.split("_");
        List<String> line = new ArrayList<>(List.of(words[1], words[0], "-d", device));
        line.addAll(List.of("-x", "" + gidIndex, "-s", "" + size, "-n", Integer.toString(count)));
        StringWriter serving = new StringWriter();
        FutureTask<Integer> server = new FutureTask<>(() -> verbena(serving, line, "-p", "0"));
        Thread thread = new Thread(server, "server");
        thread.setDaemon(true);
        thread.start();
        String port = awaitPort(serving, server);
        StringWriter printed = new StringWriter();
        int code = verbena(printed, line, "-p", port, "--json", "127.0.0.1");
        code |= server.get(LIMIT_SECONDS, TimeUnit.SECONDS);
        Matcher matcher = JSON_FIGURE.matcher(printed.toString());
        if (code != 0 || !matcher.find()) {
            throw new IOException("no figure in: " + printed + "; the server: " + serving);
        }
        return Double.parseDouble(matcher.group(1));
    }

    private static int verbena(StringWriter out, List<String> line, String... more) {
        List<String> all = new ArrayList<>(line);
        all.addAll(List.of(more));
        PrintWriter writer = new PrintWriter(out, true);
        return VerbenaCommand.run(writer, writer, all.toArray(new String[0]));
    }

    private static String awaitPort(StringWriter out, FutureTask<Integer> server)
            throws IOException {
        long beganNs = System.nanoTime();
        while (!server.isDone()
                && System.nanoTime() - beganNs < TimeUnit.SECONDS.toNanos(LIMIT_SECONDS)) {
            Matcher matcher = PORT.matcher(out.toString());
            if (matcher.find()) {
                return matcher.group(1);
            }
            LockSupport.parkNanos(LOOK_NS);
        }
        throw new IOException("the server does not listen: " + out);
    }
}
