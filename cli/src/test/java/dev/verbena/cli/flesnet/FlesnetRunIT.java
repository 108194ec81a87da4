package dev.verbena.cli.flesnet;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.cli.CommandProcess;
import dev.verbena.cli.Run;
import dev.verbena.flesnet.archive.ArchiveHead;
import dev.verbena.flesnet.archive.ArchiveReader;
import dev.verbena.flesnet.archive.ArchivedTimeslice;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Whole runs of FLESnet, a process for each node. */
@Timeout(180)
class FlesnetRunIT {
    @TempDir private Path folder;

    private static List<Long> indices(Path archive) throws IOException {
        List<Long> indices = new ArrayList<>();
        try (ArchiveReader reader =
                new ArchiveReader(
                        new BufferedInputStream(Files.newInputStream(archive)),
                        ArchiveHead.TIMESLICES)) {
            for (ArchivedTimeslice t = reader.nextTimeslice();
                    t != null;
                    t = reader.nextTimeslice()) {
                indices.add(t.index());
            }
        }
        return indices;
    }

    @Test
    void shouldBuildAndArchiveEveryTimeslice() throws Exception {
        Path archives = folder.resolve("built");
        Run run =
                Run.of(
                        "flesnet",
                        "run",
                        "--inputs=2",
                        "--computes=2",
                        "--timeslices=600",
                        "--timeslice=10",
                        "--dfs=50",
                        "--zstd",
                        "--archives=" + archives);
        assertThat(run.err()).isEmpty();
        assertThat(run.code()).isZero();
        assertThat(run.out()).containsPattern("compute 1 +300").containsPattern("input 0 +600");
        for (int c = 0; c < 2; c++) {
            List<Long> indices = indices(archives.resolve("compute-" + c + ".tsa"));
            assertThat(indices).hasSize(300);
            for (int i = 0; i < 300; i++) {
                assertThat(indices.get(i)).isEqualTo(2L * i + c);
            }
        }
    }

    /** Nodes would refuse --zstd, which needs an archive. */
    @Test
    void shouldHandFlagsToItsNodesWithTheirValues() {
        Run run =
                Run.of(
                        "flesnet",
                        "run",
                        "--inputs=1",
                        "--computes=1",
                        "--timeslices=20",
                        "--zstd=false");
        assertThat(run.err()).isEmpty();
        assertThat(run.code()).isZero();
    }

    private CommandProcess node(String role, int index, String... more) throws Exception {
        List<String> words =
                new ArrayList<>(
                        List.of(
                                "flesnet",
                                role,
                                Integer.toString(index),
                                "--directory=" + folder,
                                "--job=flesnet-it" + ProcessHandle.current().pid(),
                                "--inputs=2",
                                "--computes=2",
                                "--timeslice=10"));
        words.addAll(List.of(more));
        return CommandProcess.start(folder, words.toArray(new String[0]));
    }

    @Test
    @Tag("flesnet-45")
    void shouldGoOnWhenAComputeProcessIsKilled() throws Exception {
        Path kept = folder.resolve("kept.tsa");
        Path lost = folder.resolve("lost.tsa");
        Path points = folder.resolve("points");
        String[] pattern = {"--timeslices=6000", "--period=100000"};
        try (CommandProcess one = node("compute", 0, "--archive=" + kept, "--monitor=" + points);
                CommandProcess two = node("compute", 1, "--archive=" + lost);
                CommandProcess first = node("input", 0, pattern);
                CommandProcess second = node("input", 1, pattern)) {
            first.await(
                    () -> Files.exists(lost) && lost.toFile().length() > 500_000,
                    "timeslices on the second node");
            two.handle().destroyForcibly();
            assertThat(first.exitCode()).isZero();
            assertThat(second.exitCode()).isZero();
            assertThat(one.exitCode()).isZero();
            assertThat(first.out()).contains("input 0: 6000 timeslices");
            assertThat(one.out()).contains(" 0 damaged");
        }
        assertThat(Files.readAllLines(points))
                .isNotEmpty()
                .allMatch(
                        line ->
                                line.matches(
                                        "tsbuilder_status,host=compute0 timeslice_count=\\d+i,"
                                                + "component_count=\\d+i,byte_count=\\d+i,"
                                                + "timeslice_incomplete_count=\\d+i,"
                                                + "timeslices_allocated=\\d+i \\d{19}"));
        List<Long> indices = indices(kept);
        TreeSet<Long> distinct = new TreeSet<>(indices);
        assertThat(distinct).hasSameSizeAs(indices);
        // From the first that was dealt anew on, all are here.
        long first = indices.stream().filter(t -> t % 2 == 1).findFirst().orElseThrow();
        for (long t = first; t < 6000; t++) {
            assertThat(distinct).contains(t);
        }
    }

    /** Nothing that could not be written is lost. */
    @Test
    @Tag("flesnet-45")
    void shouldBuildElsewhereWhatAFullDiskDidNotTake() throws Exception {
        Path kept = folder.resolve("kept.tsa");
        String[] pattern = {"--timeslices=400", "--period=20000"};
        try (CommandProcess one = node("compute", 0, "--archive=" + kept);
                CommandProcess two = node("compute", 1, "--archive=/dev/full");
                CommandProcess first = node("input", 0, pattern);
                CommandProcess second = node("input", 1, pattern)) {
            assertThat(two.exitCode()).as(two.out()).isEqualTo(1);
            assertThat(two.out()).contains("/dev/full: No space left on device");
            assertThat(first.exitCode()).as(first.out()).isZero();
            assertThat(second.exitCode()).as(second.out()).isZero();
            assertThat(one.exitCode()).as(one.out()).isZero();
        }
        List<Long> indices = indices(kept);
        assertThat(indices).hasSize(400);
        assertThat(new TreeSet<>(indices)).hasSize(400);
    }
}
