package dev.verbena.savime;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.agent.CountersFile;
import dev.verbena.memory.OffHeapMemories;
import dev.verbena.memory.OffHeapMemory;
import dev.verbena.savime.query.FakeSavimeServer;
import dev.verbena.savime.query.SavimeClient;
import dev.verbena.staging.metadata.PieceMetadata;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The clients in C++ and Python against a server that is a process of its own. */
@Timeout(value = 180, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ForeignClientsIT {
    private static final Path HOME = Path.of(System.getProperty("verbena.home", ".."));
    private static final int LARGE = 400_000;

    @TempDir Path folder;
    private final String job = "stage-foreign" + ProcessHandle.current().pid();
    private Path memory;
    private Path arrived;

    @BeforeEach
    void open() throws IOException {
        arrived = folder.resolve("arrived");
        memory = Files.createTempDirectory(CountersFile.defaultShmDirectory(), "verbena-stage-");
    }

    @AfterEach
    void sweep() throws IOException {
        StagingFixture.delete(memory);
        Path left = CountersFile.jobDirectory(CountersFile.defaultShmDirectory(), job);
        if (Files.isDirectory(left)) {
            StagingFixture.delete(left);
        }
    }

    private interface Work {
        void run() throws IOException;
    }

    private String run(String address, String... command) throws Exception {
        return run(address, () -> {}, command);
    }

    /** What a program printed while this was done; it has to end with 0. */
    private String run(String address, Work meanwhile, String... command) throws Exception {
        Path out = Files.createTempFile(folder, "out", "");
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
        builder.environment().put("VERBENA_STAGING_ADDRESS", address);
        builder.environment().put("PYTHONPATH", HOME.resolve("clients/python").toString());
        builder.environment().put("PYTHONDONTWRITEBYTECODE", "1");
        Process process = builder.redirectOutput(out.toFile()).start();
        try {
            meanwhile.run();
            assertThat(process.waitFor(120, TimeUnit.SECONDS)).as("%s ends", command[0]).isTrue();
        } finally {
            process.destroyForcibly().waitFor();
        }
        String text = Files.readString(out);
        assertThat(process.exitValue()).as(text).isZero();
        return text;
    }

    private static boolean works(String... command) throws Exception {
        try {
            Process process =
                    new ProcessBuilder(command)
                            .redirectErrorStream(true)
                            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                            .start();
            return process.waitFor() == 0;
        } catch (IOException e) {
            return false;
        }
    }

    private String compiled(Path source) throws Exception {
        Assumptions.assumeTrue(works("g++", "--version"), "g++ is not installed");
        String program = folder.resolve("program").toString();
        run(
                "",
                "g++",
                "-std=c++17",
                "-Wall",
                "-Wextra",
                "-Werror",
                "-pthread",
                "-I" + HOME.resolve("clients/cpp"),
                "-o",
                program,
                source.toString());
        return program;
    }

    private StagingProcess server(Object sink) throws IOException {
        return StagingProcess.start(
                "server", job, folder.toString(), memory.toString(), sink.toString());
    }

    private static String address(StagingProcess server) throws IOException {
        return "127.0.0.1:" + server.await("ready ");
    }

    @Test
    void shouldRunListingOneOfThePaperAsItIs() throws Exception {
        String program = compiled(HOME.resolve("clients/cpp/listing1.cpp"));
        try (FakeSavimeServer savime = new FakeSavimeServer();
                StagingProcess server = server(savime.port())) {
            savime.answers.put("load_subtar(...);", List.of(SavimeClient.SUCCESS));
            run(address(server), program);
            assertThat(savime.queries)
                    .containsExactly(
                            "create_tar(...);",
                            "create_dataset(\"D:double\", \"@0\");",
                            "load_subtar(...);");
            ByteBuffer expected = ByteBuffer.allocate(8000).order(ByteOrder.LITTLE_ENDIAN);
            for (int i = 0; i < 1000; i++) {
                expected.putDouble(0.5 * i);
            }
            assertThat(savime.datasets.get("D")).isEqualTo(expected.array());
        }
    }

    @Test
    void shouldTakeWhatCppSends() throws Exception {
        String program = compiled(HOME.resolve("staging/src/test/cpp/foreign_client.cpp"));
        try (StagingProcess server = server("file:" + arrived)) {
            String said = run(address(server), program);
            assertThat(said.lines())
                    .containsExactly(
                            "answer to show();",
                            "long 1251",
                            "refused SINK_REJECTED",
                            "refused datasets 1",
                            "behind PREDECESSOR_FAILED",
                            "drained",
                            "name",
                            "length");
            verify();
        }
    }

    @Test
    void shouldTakeWhatPythonSends() throws Exception {
        requirePython();
        try (StagingProcess server = server("file:" + arrived)) {
            String said = run(address(server), "python3", python().toString(), "commands");
            assertThat(said.lines())
                    .containsExactly(
                            "answer to show();",
                            "long 1251",
                            "refused SINK_REJECTED",
                            "refused datasets 1",
                            "behind PREDECESSOR_FAILED",
                            "drained");
            verify();
        }
    }

    @Test
    void shouldReadBackInPythonWhatTheServerWroteToFiles() throws Exception {
        requirePython();
        try (StagingProcess server = server("file:" + arrived)) {
            String address = address(server);
            writeVectors(address);
            String said = run(address, "python3", python().toString(), "files", arrived.toString());
            assertThat(said.lines()).hasSize(6).containsOnly("the same");
        }
        assertThat(Files.readString(arrived.resolve("piece_2.json")))
                .contains("\"variable\":\"temperature\",\"step\":3,\"rank\":2")
                .contains("\"global\":[4, 6],\"start\":[2, 0],\"shape\":[2, 6]");
        assertThat(Files.readString(arrived.resolve("moved.json")))
                .contains("\"type\":\"double:3\"")
                .contains("\"global\":[20],\"start\":[5],\"shape\":[10]");
    }

    /** Ten vectors of three numbers, in Java. */
    private static void writeVectors(String address) {
        try (StagingServer client = StagingServer.connect(address);
                OffHeapMemory numbers = OffHeapMemories.allocate(240)) {
            for (int i = 0; i < 30; i++) {
                numbers.buffer(0, 240).putDouble(8 * i, i, ByteOrder.LITTLE_ENDIAN);
            }
            long[] all = {10};
            client.dataset("java", ElementType.DOUBLE.vector(3))
                    .piece(new PieceMetadata("java", 0, 0, all, new long[1], all))
                    .write(numbers);
            client.drain(Duration.ofSeconds(60));
        }
    }

    @Test
    void shouldGiveUpAServerInCppThatBreaksTheRules() throws Exception {
        String program = compiled(HOME.resolve("staging/src/test/cpp/foreign_client.cpp"));
        try (ScriptedStagingServer server = new ScriptedStagingServer()) {
            String said = run(server.address(), () -> server.serve(5), program, "rules");
            assertThat(said.lines())
                    .containsExactly(
                            "longer SERVER_LOST SERVER_LOST",
                            "empty SERVER_LOST SERVER_LOST",
                            "large SERVER_LOST SERVER_LOST",
                            "negative SERVER_LOST SERVER_LOST",
                            "legal OK OK");
        }
    }

    @Test
    void shouldGiveUpAServerInPythonThatBreaksTheRules() throws Exception {
        requirePython();
        String[] program = {"python3", python().toString(), "rules"};
        try (ScriptedStagingServer server = new ScriptedStagingServer()) {
            String said = run(server.address(), () -> server.serve(6), program);
            assertThat(said.lines())
                    .containsExactly(
                            "longer LOST LOST",
                            "empty LOST LOST",
                            "large LOST LOST",
                            "negative LOST LOST",
                            "legal OK OK",
                            "drain LOST",
                            "drain CANCELLED",
                            "behind LOST");
        }
    }

    private static void requirePython() throws Exception {
        Assumptions.assumeTrue(
                works("python3", "-c", "import numpy"), "python3-numpy is not installed");
    }

    private static Path python() {
        return HOME.resolve("staging/src/test/python/foreign_client.py");
    }

    private byte[] bytes(String name) throws IOException {
        return Files.readAllBytes(arrived.resolve(name + ".raw"));
    }

    private void verify() throws IOException {
        for (int i = 0; i < 5; i++) {
            assertThat(bytes("v" + i)).hasSize(8).containsOnly('a' + i);
        }
        ByteBuffer large = ByteBuffer.wrap(bytes("large")).order(ByteOrder.LITTLE_ENDIAN);
        assertThat(large.remaining()).isEqualTo(8 * LARGE);
        for (int i = 0; i < LARGE; i++) {
            assertThat(large.getLong()).isEqualTo(3L * i);
        }
        assertThat(bytes("vector")).hasSize(24);
        assertThat(Files.readString(arrived.resolve("vector.json")))
                .contains("\"type\":\"double:3\"", "\"elementSize\":24");
    }
}
