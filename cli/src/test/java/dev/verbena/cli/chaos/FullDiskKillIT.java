package dev.verbena.cli.chaos;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** {@code kill -9} of processes whose disk, a small tmpfs in a mount namespace, is full. */
@Timeout(400)
class FullDiskKillIT {
    private static final String FULL = "No space left on device";

    @TempDir private Path folder;

    private static void shouldEndWell(ChaosProcess process) throws Exception {
        assertThat(process.awaitEnd(120)).as("%s", process.out()).isTrue();
        assertThat(process.exitCode()).as("%s", process.out()).isZero();
        assertThat(process.out()).doesNotContain("\tat ");
    }

    @Test
    void shouldLoseNothingWhenAReceiverIsKilledOnAFullDisk() throws Exception {
        Path before = Staging.files(folder.resolve("before"), 2_000_000, 1_000);
        Path source = Staging.files(folder.resolve("source"), 3_000_000, 0, 9_000_000, 700_000, 5);
        try (ChaosDisk disk = ChaosDisk.open(folder.resolve("arrived"), 40);
                Staging staging = new Staging(folder)) {
            assumeTrue(disk.isLimited(), disk.cause());
            ChaosProcess first = staging.receiver(disk.inside(), disk.prefix());
            ChaosProcess master = staging.master();
            shouldEndWell(staging.send(before));
            first.kill();
            disk.fill();

            // It cannot even write what it knows of the one before; killed, it has changed nothing.
            ChaosProcess second = staging.receiver(disk.inside(), disk.prefix());
            second.awaitText("state cannot be written");
            ChaosProcess send = staging.send(source, 180);
            second.kill();
            assertThat(Staging.differences(before, disk.outside())).isEmpty();

            // Some of it fits; then the disk is full in the middle of a file.
            ChaosProcess third = staging.receiver(disk.inside(), disk.prefix());
            third.awaitText("state cannot be written");
            disk.free(5_000_000);
            third.awaitText("failed at byte");
            third.kill();
            assertThat(send.isAlive()).as("%s", send.out()).isTrue();
            disk.fill();

            ChaosProcess last = staging.receiver(disk.inside(), disk.prefix());
            last.awaitText(FULL);
            disk.free();
            shouldEndWell(send);
            assertThat(Staging.differences(source, disk.outside())).isEmpty();
            assertThat(Staging.differences(before, disk.outside())).isEmpty();
            master.terminate();
            shouldEndWell(master);
        }
    }

    @Test
    void shouldLoseNothingWhenServersAreKilledWhileTheirSpillDiskIsFull() throws Exception {
        Path source = Staging.files(folder.resolve("source"), 6_000_000, 0, 20_000_000, 9_000, 7);
        Path arrived = folder.resolve("arrived");
        try (ChaosDisk disk = ChaosDisk.open(folder.resolve("spill"), 16);
                Staging staging = new Staging(folder)) {
            assumeTrue(disk.isLimited(), disk.cause());
            String[] options = {
                "--spill=" + disk.inside() + ",1g", "--buffers=3", "--buffer-size=1"
            };
            ChaosProcess first = staging.master(disk.prefix(), options);
            ChaosProcess send = staging.send(source, 180);
            first.awaitText(FULL);
            first.kill();
            disk.fill();

            // The next one finds what it left, and has no room for anything more.
            ChaosProcess second = staging.master(disk.prefix(), options);
            second.awaitText("found ");
            second.awaitText(FULL);
            second.kill();
            assertThat(send.isAlive()).as("%s", send.out()).isTrue();

            staging.receiver(arrived, List.of());
            ChaosProcess last = staging.master(disk.prefix(), options);
            shouldEndWell(send);
            for (int i = 0; !Staging.differences(source, arrived).isEmpty(); i++) {
                assertThat(i).as("%s", last.out()).isLessThan(3_000);
                Thread.sleep(20);
            }
            last.terminate();
            shouldEndWell(last);
            assertThat(last.out()).contains("0 messages remain in 0 files");
            try (Stream<Path> files = Files.list(disk.outside())) {
                assertThat(files).noneMatch(file -> file.toString().endsWith(".frames"));
            }
        }
    }
}
