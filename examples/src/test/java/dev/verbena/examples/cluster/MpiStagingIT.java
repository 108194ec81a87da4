package dev.verbena.examples.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A whole staging job as ranks of a real {@code mpirun}: receiver, master, slave, simulation. */
@Timeout(240)
class MpiStagingIT {
    private static final int SIMULATION_COUNT = 3;

    @TempDir private Path folder;

    private static String mpirun() {
        Path found =
                Arrays.stream(System.getenv("PATH").split(File.pathSeparator))
                        .map(path -> Path.of(path, "mpirun"))
                        .filter(Files::isExecutable)
                        .findFirst()
                        .orElse(null);
        Assumptions.assumeTrue(found != null, "mpirun is not on the PATH (package openmpi-bin)");
        return found.toString();
    }

    private List<String> ranks(int count, String application) {
        List<String> command = new ArrayList<>(List.of("-n", Integer.toString(count)));
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(List.of("-Xmx128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"));
        command.addAll(List.of("-cp", System.getProperty("java.class.path")));
        command.add("-Dverbena.app=" + application);
        command.addAll(List.of(MpiStaging.class.getName(), folder.resolve("output").toString()));
        return command;
    }

    @Test
    void shouldStageUnderMpirun() throws Exception {
        List<String> command = new ArrayList<>(List.of(mpirun(), "--oversubscribe"));
        for (String server : List.of("receiver", "master", "slave")) {
            command.addAll(ranks(1, server));
            command.add(":");
        }
        command.addAll(ranks(SIMULATION_COUNT, "sim"));
        Path log = folder.resolve("log.txt");
        Files.createDirectory(folder.resolve("output"));
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
        builder.environment().put("VERBENA_RENDEZVOUS", folder.resolve("rendezvous").toString());
        builder.environment().put("VERBENA_JOB", "mpi-" + ProcessHandle.current().pid());
        builder.environment().put("OMPI_ALLOW_RUN_AS_ROOT", "1");
        builder.environment().put("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
        Process process = builder.redirectOutput(log.toFile()).start();
        try {
            boolean isEnded = process.waitFor(200, TimeUnit.SECONDS);
            assertThat(isEnded).as("it does not end: %s", Files.readString(log)).isTrue();
        } finally {
            process.descendants().forEach(ProcessHandle::destroyForcibly);
            process.destroyForcibly();
        }
        String out = Files.readString(log);
        assertThat(process.exitValue()).as("%s", out).isZero();
        assertThat(out).contains("receiver: 15 messages");
        assertThat(out).contains("sim 0 of 3", "sim 1 of 3", "sim 2 of 3");
        for (int rank = 0; rank < SIMULATION_COUNT; rank++) {
            for (int step = 1; step <= 5; step++) {
                byte[] bytes =
                        Files.readAllBytes(
                                folder.resolve("output").resolve("field-" + rank + "-" + step));
                assertThat(bytes).hasSize(1 << 20);
                byte expected = (byte) (16 * rank + step);
                for (byte value : bytes) {
                    if (value != expected) {
                        throw new AssertionError("field-" + rank + "-" + step + " has " + value);
                    }
                }
            }
        }
        // The master served its share and the slave its own.
        assertThat(out).containsPattern("master: [1-9]").containsPattern("slave: [1-9]");
    }
}
