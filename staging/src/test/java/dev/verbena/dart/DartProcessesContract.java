package dev.verbena.dart;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.agent.CountersFile;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Master, slave, clients and receiver as processes of their own; a client is killed in the middle
 * of its sending.
 */
@Timeout(value = 180, unit = TimeUnit.SECONDS)
public abstract class DartProcessesContract {
    @TempDir Path directory;
    private final List<Node> nodes = new ArrayList<>();
    private final String job = "tp" + ProcessHandle.current().pid();

    /** For subclasses in other modules. */
    protected DartProcessesContract() {}

    /** URI scheme of the provider. */
    protected abstract String scheme();

    /** A process and what it says. */
    private static final class Node {
        final Process process;
        private final BufferedReader out;

        Node(Process process) {
            this.process = process;
            this.out = new BufferedReader(new InputStreamReader(process.getInputStream()));
        }

        /** Reads on to the line that begins like this; what follows the first word. */
        String await(String word) throws IOException {
            StringBuilder all = new StringBuilder();
            String line;
            while ((line = out.readLine()) != null) {
                if (line.startsWith(word)) {
                    return line.substring(word.length()).trim();
                }
                all.append(line).append('\n');
            }
            throw new AssertionError("no line '" + word + "' but:\n" + all);
        }

        int end() throws Exception {
            process.getOutputStream().close();
            process.getInputStream().transferTo(java.io.OutputStream.nullOutputStream());
            return process.waitFor();
        }
    }

    private Node start(String role, int port, int rank, int count) throws IOException {
        Path java = Path.of(System.getProperty("java.home"), "bin", "java");
        Node node =
                new Node(
                        new ProcessBuilder(
                                        java.toString(),
                                        "-Xmx256m",
                                        "-XX:TieredStopAtLevel=1",
                                        "-XX:+UseSerialGC",
                                        "-ea",
                                        "-cp",
                                        System.getProperty("java.class.path"),
                                        DartProcessMain.class.getName(),
                                        role,
                                        scheme(),
                                        job,
                                        directory.resolve("dart.conf").toString(),
                                        Integer.toString(port),
                                        directory.resolve("out").toString(),
                                        Integer.toString(rank),
                                        Integer.toString(count))
                                .redirectErrorStream(true)
                                .start());
        nodes.add(node);
        return node;
    }

    @AfterEach
    void endAll() throws Exception {
        for (Node node : nodes) {
            node.process.destroyForcibly().waitFor();
        }
        // What the killed process left in shared memory.
        Path left = CountersFile.jobDirectory(CountersFile.defaultShmDirectory(), job);
        if (Files.isDirectory(left)) {
            try (var files = Files.walk(left)) {
                for (Path file : files.sorted(java.util.Comparator.reverseOrder()).toList()) {
                    // Another process may clear away what is empty at the same time.
                    Files.deleteIfExists(file);
                }
            }
        }
    }

    @Test
    void shouldGoOnWhenClientIsKilled() throws Exception {
        Node receiver = start("receiver", 0, 0, 0);
        int port = Integer.parseInt(receiver.await("port"));
        Node master = start("master", port, 0, 0);
        Node slave = start("slave", port, 0, 0);
        Node steady = start("client", port, 1, 40);
        Node victim = start("client", port, 2, 1_000_000);
        victim.await("sent 5");
        victim.process.destroyForcibly().waitFor();
        Node third = start("client", port, 3, 20);
        Node fourth = start("client", port, 4, 20);
        steady.await("closed");
        third.await("closed");
        fourth.await("closed");
        assertThat(steady.process.waitFor()).isZero();
        assertThat(third.process.waitFor()).isZero();
        assertThat(fourth.process.waitFor()).isZero();
        for (Node server : List.of(slave, master)) {
            server.process.getOutputStream().close();
            assertThat(server.await("stopped")).isEqualTo("true");
            assertThat(server.end()).isZero();
        }
        assertThat(receiver.await("finished")).startsWith("true");
        assertThat(receiver.end()).isZero();
        compare(1, 40);
        compare(3, 20);
        compare(4, 20);
        // What was confirmed to the one that was killed, and whatever else is there of it, is
        // whole.
        try (var files = Files.list(directory.resolve("out"))) {
            for (Path file :
                    files.filter(f -> f.getFileName().toString().startsWith("r2-")).toList()) {
                int index = Integer.parseInt(file.getFileName().toString().substring(3));
                assertThat(Files.readAllBytes(file))
                        .isEqualTo(
                                DartWorld.bytes(DartProcessMain.LENGTH, 2000L + index).byteArray());
            }
        }
        assertThat(directory.resolve("out").resolve("r2-0")).exists();
    }

    @Test
    void shouldHandOverStepsOfAKilledRankAsIncomplete() throws Exception {
        Node receiver = start("steps", 0, 0, 0);
        int port = Integer.parseInt(receiver.await("port"));
        Node master = start("master", port, 0, 0);
        Node slave = start("slave", port, 0, 0);
        Node steady = start("client", port, 0, 200);
        steady.await("sent 1");
        Node victim = start("client", port, 1, 1_000_000);
        assertThat(receiver.await("step 5")).isEqualTo("complete");
        victim.process.destroyForcibly().waitFor();
        steady.await("closed");
        // It may have sent some more before it was killed, but never all.
        assertThat(receiver.await("step 199"))
                .isEqualTo("rank 1: its process was lost, nothing came");
        for (Node server : List.of(slave, master)) {
            server.process.getOutputStream().close();
            assertThat(server.await("stopped")).isEqualTo("true");
            assertThat(server.end()).isZero();
        }
        assertThat(receiver.end()).isZero();
    }

    private void compare(int rank, int count) throws IOException {
        for (int i = 0; i < count; i++) {
            assertThat(Files.readAllBytes(directory.resolve("out").resolve("r" + rank + "-" + i)))
                    .isEqualTo(
                            DartWorld.bytes(DartProcessMain.LENGTH, 1000L * rank + i).byteArray());
        }
    }
}
