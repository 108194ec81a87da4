package dev.verbena.cli.flesnet;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.cli.CommandProcess;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Whole runs of which a process is ended from outside. */
@Timeout(180)
class FlesnetKillIT {
    @TempDir private Path folder;

    private CommandProcess run(String... more) throws IOException {
        List<String> words =
                new ArrayList<>(List.of("flesnet", "run", "--inputs=1", "--timeslice=10"));
        words.addAll(List.of(more));
        return CommandProcess.start(folder, words.toArray(new String[0]));
    }

    private static void awaitBegin(CommandProcess run) throws Exception {
        Pattern begun = Pattern.compile("timeslices released: [1-9]");
        run.await(
                () -> {
                    try {
                        return begun.matcher(run.out()).find();
                    } catch (IOException e) {
                        throw new UncheckedIOException(e);
                    }
                },
                "release timeslices");
    }

    private static List<ProcessHandle> children(CommandProcess run, String role) {
        return run.handle()
                .children()
                .filter(
                        child -> {
                            String[] words = child.info().arguments().orElse(new String[0]);
                            return String.join(" ", words).contains(" flesnet " + role);
                        })
                .toList();
    }

    /** What a run keeps in the folder of temporary files. */
    private static List<Path> folders(CommandProcess run) throws IOException {
        String name = "verbena-run-" + run.handle().pid();
        try (var all = Files.list(Path.of(System.getProperty("java.io.tmpdir")))) {
            return all.filter(path -> path.endsWith(name)).toList();
        }
    }

    private static void requireEnded(CommandProcess run, List<ProcessHandle> children)
            throws Exception {
        for (ProcessHandle child : children) {
            child.onExit().get();
        }
        assertThat(run.handle().isAlive()).isFalse();
    }

    @Test
    @Tag("flesnet-45")
    void shouldGoOnWhenAComputeNodeIsKilled() throws Exception {
        try (CommandProcess run = run("--timeslices=2000", "--period=200000")) {
            awaitBegin(run);
            List<ProcessHandle> nodes = children(run, "compute 1");
            assertThat(nodes).hasSize(1);
            nodes.get(0).destroyForcibly();
            assertThat(run.exitCode()).as(run.out()).isEqualTo(1);
            assertThat(run.out())
                    .contains("compute 1 (process " + nodes.get(0).pid() + ") was killed by signal")
                    .contains("the others go on without it")
                    .containsPattern("input 0 +2000 +100");
            assertThat(folders(run)).isEmpty();
        }
    }

    @Test
    @Tag("flesnet-47")
    void shouldEndWhenTheInputIsKilled() throws Exception {
        try (CommandProcess run = run("--timeslices=100000", "--period=200000")) {
            awaitBegin(run);
            List<ProcessHandle> nodes = children(run, "compute");
            assertThat(nodes).hasSize(2);
            children(run, "input 0").get(0).destroyForcibly();
            assertThat(run.exitCode()).as(run.out()).isEqualTo(1);
            assertThat(run.out())
                    .containsPattern("input 0 \\(process \\d+\\) was killed by signal");
            requireEnded(run, nodes);
            assertThat(folders(run)).isEmpty();
        }
    }

    @Test
    void shouldEndAllNodesWhenItIsAskedToEnd() throws Exception {
        try (CommandProcess run = run("--timeslices=100000", "--period=200000")) {
            awaitBegin(run);
            List<ProcessHandle> nodes = children(run, "");
            assertThat(nodes).hasSize(3);
            run.terminate();
            assertThat(run.exitCode()).as(run.out()).isEqualTo(1);
            assertThat(run.out()).containsPattern("computes +\\d+").doesNotContain("gave up");
            requireEnded(run, nodes);
            assertThat(folders(run)).isEmpty();
        }
    }

    @Test
    void shouldEndAllNodesWhenItIsKilled() throws Exception {
        try (CommandProcess run = run("--timeslices=100000", "--period=200000")) {
            awaitBegin(run);
            List<ProcessHandle> nodes = children(run, "");
            run.handle().destroyForcibly();
            for (ProcessHandle node : nodes) {
                node.onExit().get();
            }
            assertThat(folders(run)).hasSize(1);
            CommandProcess next = CommandProcess.run(folder, "flesnet", "run", "--timeslices=10");
            assertThat(next.exitCode()).as(next.out()).isZero();
            assertThat(folders(run)).isEmpty();
        }
    }
}
