package dev.verbena.sinks.postgres;

import dev.verbena.agent.Await;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;

/** Debian's server on a free port of loopback, as a user without rights. */
final class PostgresServer implements AutoCloseable {
    private static final boolean IS_ROOT = System.getProperty("user.name").equals("root");

    private final Path binaries;
    private final Path folder;
    private final int port;
    private Process process;

    /** Runs from now on; the test is skipped where it is not installed. */
    PostgresServer() throws Exception {
        binaries = binaries();
        Assumptions.assumeTrue(binaries != null, "postgresql is not installed");
        folder = Files.createTempDirectory("verbena-postgres-");
        try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = free.getLocalPort();
        }
        if (IS_ROOT) {
            run("chown", "nobody", folder.toString());
        }
        List<String> init = unprivileged("initdb");
        init.addAll(List.of("-D", folder + "/data", "-U", "verbena", "-A", "trust", "-N"));
        init.addAll(List.of("-E", "UTF8", "--locale=C"));
        run(init.toArray(new String[0]));
        start();
    }

    private static Path binaries() throws IOException {
        Path all = Path.of("/usr/lib/postgresql");
        if (!Files.isDirectory(all)) {
            return null;
        }
        try (Stream<Path> versions = Files.list(all)) {
            return versions.map(each -> each.resolve("bin"))
                    .filter(each -> Files.isExecutable(each.resolve("initdb")))
                    .max(Comparator.naturalOrder())
                    .orElse(null);
        }
    }

    private List<String> unprivileged(String program) {
        List<String> command = new ArrayList<>();
        if (IS_ROOT) {
            command.addAll(List.of("setpriv", "--reuid=nobody", "--regid=nogroup"));
            command.add("--clear-groups");
        }
        command.add(binaries.resolve(program).toString());
        return command;
    }

    private void run(String... command) throws Exception {
        Process ran = builder(List.of(command)).start();
        String said = new String(ran.getInputStream().readAllBytes());
        if (!ran.waitFor(60, TimeUnit.SECONDS) || ran.exitValue() != 0) {
            throw new AssertionError(String.join(" ", command) + ": " + said);
        }
    }

    private ProcessBuilder builder(List<String> command) {
        return new ProcessBuilder(command).redirectErrorStream(true).directory(folder.toFile());
    }

    void start() throws IOException {
        List<String> command = unprivileged("postgres");
        command.addAll(List.of("-D", folder + "/data", "-p", Integer.toString(port)));
        for (String each :
                List.of(
                        "listen_addresses=127.0.0.1",
                        "unix_socket_directories=",
                        "fsync=off",
                        "shared_buffers=8MB",
                        "logging_collector=off")) {
            command.add("-c");
            command.add(each);
        }
        process = builder(command).redirectOutput(ProcessBuilder.Redirect.DISCARD).start();
        Await.until("PostgreSQL listens", this::isListening);
    }

    private boolean isListening() {
        try (Socket socket = new Socket()) {
            socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 1000);
            return true;
        } catch (IOException e) {
            return false;
        }
    }

    void kill() throws InterruptedException {
        process.destroyForcibly().waitFor();
        Await.until("nobody listens", () -> !isListening());
    }

    /** As {@code --sink} takes it. */
    String uri() {
        return "postgres://verbena@127.0.0.1:" + port + "/postgres";
    }

    String url() {
        return "jdbc:postgresql://127.0.0.1:" + port + "/postgres";
    }

    PostgresSink sink() {
        return new PostgresSink(url(), "verbena", "");
    }

    @Override
    public void close() throws Exception {
        process.destroy();
        if (!process.waitFor(20, TimeUnit.SECONDS)) {
            process.destroyForcibly().waitFor();
        }
        try (Stream<Path> files = Files.walk(folder)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        }
    }
}
