package dev.verbena.dart;

import dev.verbena.agent.Await;
import dev.verbena.agent.CountersFile;
import dev.verbena.agent.RealEnvironment;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.agrona.IoUtil;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * A server or client as a process of its own, to be killed; and the program that it runs. Says a
 * line for all that its test waits for, and ends with its input.
 */
final class DartNode implements AutoCloseable {
    private static final long LIMIT_NS = 60_000_000_000L;

    /** Argument: the heap has all its memory from the beginning, so that other growth shows. */
    static final String FIXED_HEAP = "heap=fixed";

    private final Process process;
    private final BufferedReader out;

    private DartNode(Process process) {
        this.process = process;
        this.out =
                new BufferedReader(
                        new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
    }

    /** Starts {@code master}, {@code slave} or {@code client}; more arguments are key=value. */
    static DartNode start(DartWorld world, String role, String... more) throws IOException {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(List.of("-Xmx128m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-ea"));
        if (List.of(more).contains(FIXED_HEAP)) {
            command.addAll(List.of("-Xms128m", "-XX:+AlwaysPreTouch"));
        }
        command.add("-cp");
        command.add(System.getProperty("java.class.path"));
        command.add(DartNode.class.getName());
        command.addAll(
                List.of(
                        "role=" + role,
                        "scheme=" + world.scheme,
                        "job=" + world.job,
                        "conf=" + world.configurationFile(),
                        "receiver=" + world.receiverAt()));
        command.addAll(List.of(more));
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
        if (world.isApart) {
            Path own = Files.createDirectories(world.directory.resolve("shm-of-others"));
            builder.environment().put("VERBENA_SHM_DIR", own.toString());
        }
        return new DartNode(builder.start());
    }

    /** Reads on to the line that begins like this; what follows. */
    String await(String word) throws IOException {
        return awaitAny(word).substring(word.length()).trim();
    }

    /** Reads on to the line that begins like one of these; that line. */
    String awaitAny(String... words) throws IOException {
        StringBuilder all = new StringBuilder();
        String line;
        while ((line = out.readLine()) != null) {
            if (List.of(words).stream().anyMatch(line::startsWith)) {
                return line;
            }
            all.append(line).append('\n');
        }
        throw new AssertionError("no line '" + String.join("' or '", words) + "' but:\n" + all);
    }

    /** Memory of the process that is in RAM, bytes, as the kernel counts it. */
    long residentBytes() throws IOException {
        for (String line : Files.readAllLines(Path.of("/proc/" + process.pid() + "/status"))) {
            if (line.startsWith("VmRSS:")) {
                return 1024 * Long.parseLong(line.replaceAll("[^0-9]", ""));
            }
        }
        throw new IOException("no VmRSS of process " + process.pid());
    }

    /** Bytes that a server has streamed so far, sent again or not. */
    long streamedBytes() throws IOException {
        process.getOutputStream().write('\n');
        process.getOutputStream().flush();
        return Long.parseLong(await("streamed"));
    }

    /** {@code kill -9}, and waits until the process is no more. */
    void kill() throws InterruptedException {
        process.destroyForcibly().waitFor();
    }

    /** Sends a signal; returns from STOP and KILL when no thread of it runs any more. */
    void signal(String name) throws Exception {
        new ProcessBuilder("kill", "-" + name, Long.toString(process.pid())).start().waitFor();
        if (name.equals("STOP")) {
            // The kernel lets one thread stop the others, as soon as it gets a processor.
            Await.until("all threads are stopped", this::isStopped);
        } else if (name.equals("KILL")) {
            process.waitFor();
        }
    }

    private boolean isStopped() {
        try (var threads = Files.list(Path.of("/proc/" + process.pid() + "/task"))) {
            for (Path thread : threads.toList()) {
                String state = Files.readString(thread.resolve("stat"));
                if (state.charAt(state.lastIndexOf(')') + 2) != 'T') {
                    return false;
                }
            }
            return true;
        } catch (IOException e) {
            return false; // a thread has just ended
        }
    }

    /** Ends its input: it stops in order, and says so. */
    void endInput() throws IOException {
        process.getOutputStream().close();
    }

    /** As {@link #endInput}, and waits for its end. */
    int end() throws Exception {
        endInput();
        process.getInputStream().transferTo(java.io.OutputStream.nullOutputStream());
        return process.waitFor();
    }

    @Override
    public void close() throws InterruptedException {
        kill();
    }

    /** Removes what killed processes have left in shared memory; others may remove some of it. */
    static void sweep(DartWorld world) {
        Path left = CountersFile.jobDirectory(CountersFile.defaultShmDirectory(), world.job);
        IoUtil.delete(left.toFile(), true);
    }

    // ---- in the process

    public static void main(String[] arguments) throws Exception {
        java.util.Map<String, String> given = new java.util.HashMap<>();
        for (String argument : arguments) {
            int equals = argument.indexOf('=');
            given.put(argument.substring(0, equals), argument.substring(equals + 1));
        }
        try (RealEnvironment environment =
                RealEnvironment.builder()
                        .job(given.get("job"))
                        .errorHandler(e -> System.out.println("error " + e.getMessage()))
                        .build()) {
            if (given.get("role").equals("client")) {
                send(environment, given);
            } else {
                serve(environment, given);
            }
        }
    }

    private static void serve(RealEnvironment environment, java.util.Map<String, String> given)
            throws IOException {
        DartServer.Context context =
                new DartServer.Context()
                        .environment(environment)
                        .transport(given.get("scheme"))
                        .transportJob(given.get("job"))
                        .configurationFile(given.get("conf"))
                        .receiver(URI.create(given.get("receiver")))
                        .serverCount(Integer.parseInt(given.getOrDefault("servers", "1")))
                        .bufferCount(Integer.parseInt(given.getOrDefault("buffers", "4")))
                        .bufferSize(64 * 1024)
                        .framePayloadMax(32 * 1024);
        if (given.containsKey("spill")) {
            context.spill(given.get("spill"), 1 << 26);
        }
        if (given.containsKey("uuid")) {
            context.serviceId(UUID.fromString(given.get("uuid")));
        }
        boolean isMaster = given.get("role").equals("master");
        try (DartServer server = DartServer.launch(isMaster ? context.master() : context.slave())) {
            server.awaitReady(LIMIT_NS);
            System.out.println("ready " + server.serverId());
            while (System.in.read() >= 0) {
                System.out.println("streamed " + server.statistics().streamedBytes());
            }
            server.requestStop();
            System.out.println("stopped " + server.awaitStopped(LIMIT_NS));
        } catch (DartException e) {
            System.out.println("failed " + e.code() + " " + e.getMessage());
        }
    }

    /** Sends without looking at what becomes of it, then sleeps until it is killed. */
    private static void send(RealEnvironment environment, java.util.Map<String, String> given)
            throws Exception {
        int count = Integer.parseInt(given.get("count"));
        DartClient client =
                DartClient.connect(
                        new DartClient.Context()
                                .environment(environment)
                                .transport(given.get("scheme"))
                                .transportJob(given.get("job"))
                                .configurationFile(given.get("conf"))
                                .rank(Integer.parseInt(given.get("rank")))
                                .maxInFlight(count));
        UnsafeBuffer data = DartWorld.bytes(5000, 1);
        for (int i = 0; i < count; i++) {
            client.sendCopy(data, 0, 5000, null, 100 + i);
        }
        System.out.println("sent " + client.clientId());
        TimeUnit.SECONDS.sleep(600);
    }
}
