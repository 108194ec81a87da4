package dev.verbena.jmh;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.postgresql.PGConnection;

/**
 * A million doubles into Debian's PostgreSQL on a free port of loopback, as a user without rights:
 * by the sink, or by {@code COPY} of the same rows, which are in memory in its binary form. Prints
 * a median in thousands of rows a second. Arguments: {@code sink} or {@code copy}.
 */
public final class PostgresFigures implements AutoCloseable {
    private static final int ROWS = 1_000_000;
    private static final TableFigures TABLES = new TableFigures(ROWS, 1, 5);
    private static final boolean IS_ROOT = System.getProperty("user.name").equals("root");
    private static final String NOT_FOUND = "postgresql: not found";

    private final Path folder;
    private final Path programs;
    private final int port;
    private final Process server;

    private PostgresFigures(Path folder) throws Exception {
        this.folder = folder;
        programs = programs();
        try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = free.getLocalPort();
        }
        if (IS_ROOT) {
            run(List.of("chown", "nobody", folder.toString()));
        }
        List<String> init = unprivileged("initdb");
        init.addAll(List.of("-D", folder + "/data", "-U", "verbena", "-A", "trust", "-N"));
        init.addAll(List.of("-E", "UTF8", "--locale=C"));
        run(init);
        List<String> start = unprivileged("postgres");
        start.addAll(List.of("-D", folder + "/data", "-p", Integer.toString(port)));
        for (String each : List.of("listen_addresses=127.0.0.1", "unix_socket_directories=")) {
            start.addAll(List.of("-c", each));
        }
        server = builder(start).redirectOutput(ProcessBuilder.Redirect.DISCARD).start();
        while (!isListening()) {
            if (server.waitFor(20, TimeUnit.MILLISECONDS)) {
                throw new IOException("postgres ended with " + server.exitValue());
            }
        }
    }

    private static Path programs() throws IOException {
        Path all = Path.of("/usr/lib/postgresql");
        if (!Files.isDirectory(all)) {
            throw new IOException(NOT_FOUND);
        }
        try (Stream<Path> versions = Files.list(all)) {
            return versions.map(each -> each.resolve("bin"))
                    .filter(each -> Files.isExecutable(each.resolve("initdb")))
                    .max(Comparator.naturalOrder())
                    .orElseThrow(() -> new IOException(NOT_FOUND));
        }
    }

    private List<String> unprivileged(String program) {
        List<String> command = new ArrayList<>();
        if (IS_ROOT) {
            command.addAll(List.of("setpriv", "--reuid=nobody", "--regid=nogroup"));
            command.add("--clear-groups");
        }
        command.add(programs.resolve(program).toString());
        return command;
    }

    private ProcessBuilder builder(List<String> command) {
        return new ProcessBuilder(command).redirectErrorStream(true).directory(folder.toFile());
    }

    private void run(List<String> command) throws Exception {
        Process ran = builder(command).start();
        String said = new String(ran.getInputStream().readAllBytes());
        if (ran.waitFor() != 0) {
            throw new IOException(String.join(" ", command) + ": " + said);
        }
    }

    private boolean isListening() {
        try (Socket socket = new Socket()) {
            socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 1000);
            return true;
        } catch (IOException e) {
            return false;
        }
    }

    private double sink() throws Exception {
        return TABLES.sink(folder, "postgres://verbena@127.0.0.1:" + port + "/postgres");
    }

    /** The sink makes the rows; COPY then gives them out, and takes them again. */
    private double copy() throws Exception {
        sink();
        String url = "jdbc:postgresql://127.0.0.1:" + port + "/postgres?user=verbena";
        try (Connection connection = DriverManager.getConnection(url);
                Statement statement = connection.createStatement()) {
            var copying = connection.unwrap(PGConnection.class).getCopyAPI();
            ByteArrayOutputStream out = new ByteArrayOutputStream(64 * ROWS);
            copying.copyOut("COPY v0 TO STDOUT (FORMAT BINARY)", out);
            byte[] rows = out.toByteArray();
            connection.setAutoCommit(false);
            return TABLES.rate(
                    number -> {
                        String table = "copy" + number;
                        statement.execute("CREATE TABLE " + table + " (LIKE v0)");
                        copying.copyIn(
                                "COPY " + table + " FROM STDIN (FORMAT BINARY)",
                                new ByteArrayInputStream(rows),
                                512 << 10);
                        connection.commit();
                    });
        }
    }

    /** Prints one number. */
    public static void main(String[] arguments) throws Exception {
        try (TemporaryFolder folder = new TemporaryFolder("verbena-postgres-");
                PostgresFigures figures = new PostgresFigures(folder.path)) {
            Samples.print(arguments[0].equals("sink") ? figures.sink() : figures.copy());
        }
    }

    @Override
    public void close() {
        server.destroy();
        try {
            if (!server.waitFor(20, TimeUnit.SECONDS)) {
                server.destroyForcibly().waitFor();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
