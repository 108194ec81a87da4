package dev.verbena.agent;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Real processes under a real {@code mpirun}. */
@Timeout(180)
class JobGroupIT {
    @TempDir Path directory;

    private static Path launcher(String name, String debianPackage) {
        Path found =
                Arrays.stream(System.getenv("PATH").split(File.pathSeparator))
                        .map(folder -> Path.of(folder, name))
                        .filter(Files::isExecutable)
                        .findFirst()
                        .orElse(null);
        Assumptions.assumeTrue(
                found != null, name + " is not on the PATH (package " + debianPackage + ")");
        return found;
    }

    private static Path mpirun() {
        return launcher("mpirun", "openmpi-bin");
    }

    private List<String> java(String... properties) {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(List.of("-Xmx64m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"));
        command.addAll(List.of(properties));
        command.addAll(List.of("-cp", System.getProperty("java.class.path")));
        command.add(JobGroupMain.class.getName());
        return command;
    }

    /** Runs a command with the rendezvous directory; the lines of its members. */
    private List<String> run(List<String> command) throws Exception {
        return run(directory.resolve("r").toString(), command);
    }

    private List<String> run(String rendezvous, List<String> command) throws Exception {
        Path output = directory.resolve("output");
        ProcessBuilder builder =
                new ProcessBuilder(command)
                        .redirectErrorStream(true)
                        .redirectOutput(output.toFile());
        builder.environment().put("VERBENA_RENDEZVOUS", rendezvous);
        builder.environment().put("OMPI_ALLOW_RUN_AS_ROOT", "1");
        builder.environment().put("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
        Process process = builder.start();
        try {
            assertThat(process.waitFor(150, TimeUnit.SECONDS)).as("the job ends").isTrue();
        } finally {
            process.descendants().forEach(ProcessHandle::destroyForcibly);
            process.destroyForcibly();
        }
        List<String> lines = Files.readAllLines(output);
        assertThat(process.exitValue()).as("output: %s", lines).isZero();
        return lines.stream().filter(line -> line.startsWith("member ")).sorted().toList();
    }

    @Test
    void shouldFindAllRanksUnderMpirun() throws Exception {
        List<String> command = new ArrayList<>();
        command.addAll(List.of(mpirun().toString(), "--oversubscribe", "-n", "4"));
        command.addAll(java());
        String name = JobGroupMain.class.getName();
        assertThat(run(command))
                .containsExactly(
                        "member PMIx 0/4 " + name + " 0/4 true " + name,
                        "member PMIx 1/4 " + name + " 1/4 true " + name,
                        "member PMIx 2/4 " + name + " 2/4 true " + name,
                        "member PMIx 3/4 " + name + " 3/4 true " + name);
    }

    @Test
    @Tag("nessie-J1")
    @Tag("nessie-J2")
    void shouldSplitTwoApplicationsStartedAsOneJob() throws Exception {
        List<String> command = new ArrayList<>();
        command.addAll(List.of(mpirun().toString(), "--oversubscribe", "-n", "2"));
        command.addAll(java("-Dverbena.app=sim"));
        command.addAll(List.of(":", "-n", "1"));
        command.addAll(java("-Dverbena.app=viz"));
        command.addAll(List.of(":", "-n", "1"));
        command.addAll(java("-Dverbena.app=sim"));
        assertThat(run(command))
                .containsExactly(
                        "member PMIx 0/4 sim 0/3 true sim+viz",
                        "member PMIx 1/4 sim 1/3 true sim+viz",
                        "member PMIx 2/4 viz 0/1 true sim+viz",
                        "member PMIx 3/4 sim 2/3 true sim+viz");
        // The same directory again: what the first job left does not matter.
        assertThat(run(command)).hasSize(4);
    }

    @Test
    @Tag("nessie-J1")
    void shouldSplitTwoApplicationsOfMpichWithoutADirectory() throws Exception {
        List<String> command = new ArrayList<>();
        command.addAll(List.of(launcher("mpiexec.mpich", "mpich").toString(), "-n", "1"));
        command.addAll(java("-Dverbena.app=viz"));
        command.addAll(List.of(":", "-n", "2"));
        command.addAll(java("-Dverbena.app=sim"));
        try (RealEnvironment environment = RealEnvironment.builder().build();
                RendezvousServer server = RendezvousServer.launch(environment, "127.0.0.1", 0)) {
            assertThat(run("tcp://127.0.0.1:" + server.port(), command))
                    .containsExactly(
                            "member PMI 0/3 viz 0/1 true sim+viz",
                            "member PMI 1/3 sim 0/2 true sim+viz",
                            "member PMI 2/3 sim 1/2 true sim+viz");
        }
    }
}
