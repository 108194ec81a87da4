package dev.verbena.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A container's limits: 64 MiB of shared memory, no privilege, a system-call filter. */
@Timeout(240)
class ContainerIT {
    @TempDir private Path folder;
    private Container container;
    private String out;

    @BeforeEach
    void prepare() throws Exception {
        container = Container.in(folder);
    }

    private int run(String... arguments) throws Exception {
        Path log = folder.resolve("out.txt");
        Process process = container.start(log, arguments);
        try {
            boolean isEnded = process.waitFor(180, TimeUnit.SECONDS);
            out = Files.readString(log);
            assertThat(isEnded).as("it does not end; it printed: %s", out).isTrue();
            return process.exitValue();
        } finally {
            process.descendants().forEach(ProcessHandle::destroyForcibly);
            process.destroyForcibly().waitFor();
        }
    }

    @Test
    void shouldRunTheDemoWhereSharedMemoryIsTooSmall() throws Exception {
        Path deck = container.home().resolve("deck.conf");
        // Restart files of the usual size: they alone do not fit into 64 MiB.
        Files.writeString(deck, "steps = 8\n");
        Path output = container.home().resolve("run");
        int code = run("demo", "--deck=" + deck, "--no-compare", "--output=" + output);
        assertThat(code).as("%s", out).isZero();
        assertThat(out)
                .contains("/dev/shm has 64 MiB free, and this run shares up to")
                .contains("--shm-size=1g")
                .contains("All checks passed");
        try (var left = Files.list(container.home())) {
            assertThat(left.map(path -> path.getFileName().toString()))
                    .noneMatch(name -> name.startsWith("verbena-shm-"));
        }
    }

    @Test
    void shouldRunASmallDemoInSharedMemory() throws Exception {
        Path deck = container.home().resolve("deck.conf");
        Files.writeString(deck, "steps = 8\nrestart.size = 160 kB\n");
        int code =
                run(
                        "demo",
                        "--deck=" + deck,
                        "--ranks=1",
                        "--servers=1",
                        "--no-compare",
                        "--output=" + container.home().resolve("run"));
        assertThat(code).as("%s", out).isZero();
        assertThat(out).contains("All checks passed").doesNotContain("--shm-size");
    }

    @Test
    void shouldNameTheRemedyWhereAttachIsForbidden() throws Exception {
        assertThat(run("lat", "--foreign", "--transport=shm", "--iterations=100")).isEqualTo(1);
        assertThat(out)
                .contains("forbids cross-memory attach")
                .contains("SYS_PTRACE")
                .contains("foreignMemory=bounce");
    }

    @Test
    void shouldBeToldByTheDoctor() throws Exception {
        assertThat(run("doctor")).as("%s", out).isZero();
        assertThat(out)
                .contains("warning shared memory", "64 MiB of 64 MiB free")
                .contains("seccomp mode 2")
                .contains("warning shm:// attach", "--cap-add=SYS_PTRACE")
                .containsPattern("Transports that work now: auto, gni, (ofi, )?portals, shm");
    }
}
