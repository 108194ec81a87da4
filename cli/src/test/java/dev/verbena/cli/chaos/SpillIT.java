package dev.verbena.cli.chaos;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.verbena.dart.DartReceiver;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Servers that spill to a disk, as processes that are killed. */
@Timeout(300)
class SpillIT {
    private static final int[] LENGTHS = {5_000_000, 0, 33_000_000, 3_000_000, 1, 9_000_000};

    @TempDir private Path folder;

    private static void shouldEndWell(ChaosProcess process) throws Exception {
        assertThat(process.awaitEnd(120)).as("%s", process.out()).isTrue();
        assertThat(process.exitCode()).as("%s", process.out()).isZero();
        assertThat(process.out()).doesNotContain("\tat ");
    }

    private static List<Path> spilled(Path directory) throws IOException {
        try (Stream<Path> files = Files.list(directory)) {
            return files.filter(file -> file.toString().endsWith(".frames")).toList();
        }
    }

    /** Until a receiver has everything, compared byte by byte. */
    private static void awaitEqual(Path source, Path arrived, ChaosProcess master)
            throws Exception {
        List<String> differences = List.of("nothing was looked at");
        for (int i = 0; i < 3_000 && !differences.isEmpty(); i++) {
            Thread.sleep(20);
            differences =
                    Files.isDirectory(arrived.resolve(source.getFileName()))
                            ? Staging.differences(source, arrived)
                            : differences;
        }
        assertThat(differences).as("%s", master.out()).isEmpty();
    }

    @Test
    @Tag("dart-D4")
    @Tag("dart-F7")
    void shouldServeWithoutReceiverAndDeliverAfterAKillAndAStop() throws Exception {
        Path source = Staging.files(folder.resolve("source"), LENGTHS);
        Path arrived = folder.resolve("arrived");
        Path spill = folder.resolve("spill");
        String option = "--spill=" + spill + ",1g";
        try (Staging staging = new Staging(folder)) {
            ChaosProcess master = staging.master(List.of(), option);
            ChaosProcess send = staging.send(source);
            shouldEndWell(send);
            assertThat(send.out()).contains("on the disk of a server");
            master.kill();
            assertThat(spilled(spill)).isNotEmpty();

            // In order: what is there is found, and kept once more.
            ChaosProcess second = staging.master(List.of(), option);
            assertThat(second.out()).contains("found ");
            second.terminate();
            shouldEndWell(second);
            assertThat(second.out()).contains("remain in").contains("kept ");

            staging.receiver(arrived, List.of());
            ChaosProcess third = staging.master(List.of(), option);
            awaitEqual(source, arrived, third);
            third.terminate();
            shouldEndWell(third);
            assertThat(third.out()).contains("0 messages remain in 0 files");
            try (Stream<Path> files = Files.list(spill)) {
                assertThat(files).isEmpty();
            }
        }
    }

    @Test
    @Tag("dart-F7")
    void shouldGoOnWhileTheReceiverIsDeadAndDeliverInOrderWhenItIsBack() throws Exception {
        Path source = Staging.files(folder.resolve("source"), LENGTHS);
        Path arrived = folder.resolve("arrived");
        Path spill = folder.resolve("spill");
        try (Staging staging = new Staging(folder)) {
            ChaosProcess receiver = staging.receiver(arrived, List.of());
            ChaosProcess master =
                    staging.master(
                            List.of(),
                            "--spill=" + spill + ",1g",
                            "--buffers=3",
                            "--buffer-size=1");
            staging.proxy.stallAfter(8_000_000, 60_000);
            ChaosProcess send = staging.send(source);
            staging.proxy.awaitStall();
            receiver.kill();
            staging.proxy.cut();
            shouldEndWell(send);
            assertThat(spilled(spill)).isNotEmpty();
            staging.proxy.heal();
            staging.receiver(arrived, List.of());
            awaitEqual(source, arrived, master);
            master.terminate();
            shouldEndWell(master);
            assertThat(master.out()).contains("0 messages remain in 0 files");
        }
    }

    @Test
    @Tag("dart-S10")
    void shouldStoreAsAReceiverDoesWhenTheSinkIsAFolder() throws Exception {
        Path source = Staging.files(folder.resolve("source"), LENGTHS);
        Path sink = folder.resolve("sink");
        try (Staging staging = new Staging(folder)) {
            ChaosProcess master =
                    staging.command(
                            "master",
                            List.of(),
                            "dart",
                            "master",
                            "--transport=shm",
                            "--config=" + staging.config(),
                            "--sink=file:" + sink);
            master.awaitLine("master ready");
            ChaosProcess send = staging.send(source);
            shouldEndWell(send);
            assertThat(Staging.differences(source, sink)).isEmpty();
            master.terminate();
            shouldEndWell(master);
            try (Stream<Path> files = Files.list(sink)) {
                assertThat(files)
                        .containsExactlyInAnyOrder(
                                sink.resolve("source"), sink.resolve(DartReceiver.DESCRIPTIONS));
            }
            ChaosProcess list = staging.command("ls", List.of(), "dart", "ls", sink.toString());
            shouldEndWell(list);
            assertThat(list.out().lines().skip(1))
                    .hasSize(LENGTHS.length)
                    .allMatch(line -> line.startsWith("source/") && line.endsWith(" complete"));
        }
    }

    @Test
    void shouldNotTouchTheReceiversAddressUntilTheFileIsWon() throws Exception {
        try (Staging staging = new Staging(folder)) {
            staging.receiver(folder.resolve("arrived"), List.of());
            staging.master();
            Path address = Path.of(staging.config() + ".receiver");
            String won = Files.readString(address);
            ChaosProcess other =
                    staging.command(
                            "master",
                            List.of(),
                            "dart",
                            "master",
                            "--transport=shm",
                            "--config=" + staging.config(),
                            "--receiver=127.0.0.1:1");
            assertThat(other.awaitEnd(60)).as("%s", other.out()).isTrue();
            assertThat(other.exitCode()).as("%s", other.out()).isEqualTo(1);
            assertThat(Files.readString(address)).isEqualTo(won);
        }
    }

    @Test
    @Tag("dart-F7")
    void shouldHoldBackWhileTheSpillDiskIsFull() throws Exception {
        Path source = Staging.files(folder.resolve("source"), 20_000_000, 6_000_000, 7);
        Path arrived = folder.resolve("arrived");
        try (ChaosDisk disk = ChaosDisk.open(folder.resolve("spill"), 16);
                Staging staging = new Staging(folder)) {
            assumeTrue(disk.isLimited(), disk.cause());
            ChaosProcess master =
                    staging.master(
                            disk.prefix(),
                            "--spill=" + disk.inside() + ",1g",
                            "--buffers=3",
                            "--buffer-size=1");
            ChaosProcess send = staging.send(source);
            for (int i = 0; !master.out().contains("No space left on device"); i++) {
                assertThat(i).as("%s", master.out()).isLessThan(3_000);
                Thread.sleep(20);
            }
            assertThat(send.isAlive()).isTrue();
            staging.receiver(arrived, List.of());
            shouldEndWell(send);
            awaitEqual(source, arrived, master);
            master.terminate();
            shouldEndWell(master);
            assertThat(master.out().lines().filter(line -> line.contains("cannot be written")))
                    .hasSizeLessThan(10);
        }
    }
}
