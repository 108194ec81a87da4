package dev.verbena.cli.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.cli.VerbenaCommand;
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

/** The doctor on this machine as it is, and with limits that can really be set. */
@Timeout(120)
class DoctorIT {
    @TempDir private Path folder;
    private String out;

    private int run(List<String> prefix, String... arguments) throws Exception {
        List<String> command = new ArrayList<>(prefix);
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-cp"));
        command.add(System.getProperty("java.class.path"));
        command.addAll(List.of(VerbenaCommand.class.getName(), "doctor"));
        command.addAll(List.of(arguments));
        Path log = folder.resolve("out.txt");
        Process process =
                new ProcessBuilder(command)
                        .redirectErrorStream(true)
                        .redirectOutput(log.toFile())
                        .start();
        try {
            boolean isEnded = process.waitFor(90, TimeUnit.SECONDS);
            out = Files.readString(log);
            assertThat(isEnded).as("it does not end; it printed: %s", out).isTrue();
            return process.exitValue();
        } finally {
            process.descendants().forEach(ProcessHandle::destroyForcibly);
            process.destroyForcibly().waitFor();
        }
    }

    private static void require(String program) {
        boolean isThere =
                Arrays.stream(System.getenv("PATH").split(File.pathSeparator))
                        .anyMatch(path -> Files.isExecutable(Path.of(path, program)));
        Assumptions.assumeTrue(isThere, program + " is not on the PATH (package util-linux)");
    }

    @Test
    void shouldFindBothTransportsWorking() throws Exception {
        assertThat(run(List.of(), "--all")).as("%s", out).isZero();
        assertThat(out)
                .containsPattern("Transports that work now: auto, gni, (ofi, )?portals, shm")
                .contains("shm://", "portals://", "gni://", "bytes compared")
                .contains("locked memory", "cores", "JDK", "RDMA devices", "libibverbs");
        assertThat(out.lines()).allMatch(line -> line.length() <= 160);
    }

    @Test
    void shouldReadLimitsThatWereSet() throws Exception {
        require("prlimit");
        List<String> limits = List.of("prlimit", "--memlock=65536:65536", "--nofile=256:256");
        // A warning fails a strict one only.
        assertThat(run(limits, "--json", "--strict")).as("%s", out).isEqualTo(1);
        assertThat(out)
                .startsWith("{\"version\": ")
                .contains("\"worst\": \"warning\"")
                .containsPattern(
                        "\"transports\": \\[\"auto\", \"gni\", (\"ofi\", )?\"portals\", \"shm\"\\]")
                .contains(
                        "{\"name\": \"locked memory\", \"level\": \"note\", \"found\": \"limit 64 KiB\"")
                .contains(
                        "{\"name\": \"open files\", \"level\": \"warning\", \"found\": \"limit 256\"");
    }

    @Test
    void shouldSayWhatIsWrongWhereSharedMemoryIsFull() throws Exception {
        require("unshare");
        List<String> small =
                List.of(
                        "unshare",
                        "--mount",
                        "--map-root-user",
                        "sh",
                        "-c",
                        "mount -t tmpfs -o size=512k tmpfs /dev/shm && exec \"$@\"",
                        "sh");
        Assumptions.assumeTrue(isPossible(small), "no mount namespace may be made here");
        assertThat(run(small)).as("%s", out).isEqualTo(1);
        assertThat(out)
                .contains("WRONG   shared memory", "512 KiB", "size=1g")
                .contains("WRONG   shm://", "ENOSPC")
                .containsPattern("Transports that work now: (none|ofi)");
    }

    private static boolean isPossible(List<String> prefix) throws Exception {
        List<String> command = new ArrayList<>(prefix);
        command.add("true");
        Process process = new ProcessBuilder(command).start();
        return process.waitFor(20, TimeUnit.SECONDS) && process.exitValue() == 0;
    }
}
