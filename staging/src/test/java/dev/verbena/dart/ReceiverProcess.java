package dev.verbena.dart;

import dev.verbena.agent.RealEnvironment;
import dev.verbena.staging.sink.Sinks;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.URI;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * A receiver that is a process of its own, so that a test can kill it. Stores into a directory;
 * prints a line for each message that its handler sees.
 */
public final class ReceiverProcess implements AutoCloseable {
    private static final long LIMIT_S = 60;
    private static final String END = "<end>";

    final Process process;
    public final URI address;
    final int port;
    private final LinkedBlockingQueue<String> lines = new LinkedBlockingQueue<>();

    /** Starts one on loopback and waits until it listens; port 0: any. */
    ReceiverProcess(Path directory, int port, String... options) throws Exception {
        this(directory, URI.create("tcp://127.0.0.1:" + port), options);
    }

    /** Starts one and waits until it listens. */
    public ReceiverProcess(Path directory, URI address, String... options) throws Exception {
        List<String> command =
                new java.util.ArrayList<>(
                        List.of(
                                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                                "-Xmx128m",
                                "-XX:TieredStopAtLevel=1",
                                "-XX:+UseSerialGC",
                                "-ea",
                                "-cp",
                                System.getProperty("java.class.path"),
                                ReceiverProcess.class.getName(),
                                directory.toString(),
                                address.toString()));
        command.addAll(List.of(options));
        process = new ProcessBuilder(command).redirectErrorStream(true).start();
        Thread reader = new Thread(this::read, "receiver-output");
        reader.setDaemon(true);
        reader.start();
        this.address = URI.create(await("address "));
        this.port = this.address.getPort();
    }

    private void read() {
        try (BufferedReader in =
                new BufferedReader(new InputStreamReader(process.getInputStream()))) {
            String line;
            while ((line = in.readLine()) != null) {
                lines.add(line);
            }
        } catch (IOException e) {
            lines.add(e.toString());
        }
        lines.add(END);
    }

    /** Waits for a line that begins so; the rest of it. */
    public String await(String beginning) throws InterruptedException {
        StringBuilder all = new StringBuilder();
        while (true) {
            String line = lines.poll(LIMIT_S, TimeUnit.SECONDS);
            if (line == null || line.equals(END)) {
                throw new AssertionError("no line '" + beginning + "' but:\n" + all);
            }
            if (line.startsWith(beginning)) {
                return line.substring(beginning.length());
            }
            all.append(line).append('\n');
        }
    }

    public void kill() throws InterruptedException {
        process.destroyForcibly().waitFor();
    }

    void signal(String name) throws Exception {
        new ProcessBuilder("kill", "-" + name, Long.toString(process.pid())).start().waitFor();
    }

    public int exitCode() throws InterruptedException {
        if (!process.waitFor(LIMIT_S, TimeUnit.SECONDS)) {
            throw new AssertionError("the receiver has not ended");
        }
        return process.exitValue();
    }

    @Override
    public void close() throws InterruptedException {
        kill();
    }

    /**
     * {@code DIRECTORY ADDRESS [accept-gaps] [hang-on-loss] [sink=URI]}; ends when a server has
     * finished.
     */
    public static void main(String[] arguments) {
        boolean isAccepting = List.of(arguments).contains("accept-gaps");
        boolean isHanging = List.of(arguments).contains("hang-on-loss");
        try (RealEnvironment environment =
                        RealEnvironment.builder()
                                .errorHandler(e -> System.out.println("error " + e.getMessage()))
                                .build();
                DartReceiver receiver =
                        DartReceiver.launch(
                                stored(
                                        arguments,
                                        new DartReceiver.Context()
                                                .environment(environment)
                                                .listen(URI.create(arguments[1]))
                                                .directory(arguments[0])
                                                .lostHandler(
                                                        (application, rank, client) ->
                                                                onLost(
                                                                        application,
                                                                        rank,
                                                                        isHanging))
                                                .acceptGaps(isAccepting)
                                                .handler(ReceiverProcess::onMessage)))) {
            System.out.println("address " + receiver.address());
            boolean isFinished = receiver.awaitFinished(1, TimeUnit.SECONDS.toNanos(3 * LIMIT_S));
            System.out.println("finished " + isFinished + " " + receiver.statistics());
        }
    }

    private static DartReceiver.Context stored(String[] arguments, DartReceiver.Context context) {
        for (String each : arguments) {
            if (each.startsWith("sink=")) {
                ClassLoader loader = ReceiverProcess.class.getClassLoader();
                return context.sink(Sinks.of(each.substring("sink=".length()), loader));
            }
        }
        return context.keepBoth(true);
    }

    /** A handler that hangs has not returned when its process is killed. */
    private static void onLost(int application, int rank, boolean isHanging) {
        System.out.println((isHanging ? "losing " : "lost ") + application + "/" + rank);
        while (isHanging) {
            java.util.concurrent.locks.LockSupport.park();
        }
    }

    private static void onMessage(DartMessage message) {
        System.out.println(
                "message "
                        + message.metadata().name()
                        + " "
                        + message.length()
                        + (message.isCorrupt() ? " corrupt" : ""));
    }
}
