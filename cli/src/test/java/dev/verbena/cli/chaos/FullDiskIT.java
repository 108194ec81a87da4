package dev.verbena.cli.chaos;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.verbena.Turns;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Devices that are really full: a small tmpfs in a mount namespace. */
@Timeout(240)
class FullDiskIT {
    @TempDir private Path folder;

    private static long lines(ChaosProcess process, String text) {
        return process.out().lines().filter(line -> line.contains(text)).count();
    }

    @Test
    void shouldConfirmNothingWhileTheReceiversDiskIsFullAndGoOnAfterwards() throws Exception {
        Path source = Staging.files(folder.resolve("source"), 2_000_000, 1_000, 2_000_000, 7);
        try (ChaosDisk disk = ChaosDisk.open(folder.resolve("arrived"), 24);
                Staging staging = new Staging(folder)) {
            assumeTrue(disk.isLimited(), disk.cause());
            ChaosProcess receiver = staging.receiver(disk.inside(), disk.prefix());
            ChaosProcess master = staging.master();
            disk.fill();
            ChaosProcess send = staging.send(source);
            for (int i = 0; lines(master, "No space left on device") < 3; i++) {
                assertThat(i).as("%s", master.out()).isLessThan(3_000);
                Thread.sleep(20);
            }
            assertThat(receiver.out()).contains("failed at byte").contains(".receiving-");
            // Asked less and less often, and not told each time in a tight loop.
            assertThat(lines(receiver, "No space left")).isLessThan(30);
            assertThat(send.isAlive()).isTrue();
            disk.free();
            assertThat(send.awaitEnd(90)).as("%s", send.out()).isTrue();
            assertThat(send.exitCode()).as("%s", send.out()).isZero();
            assertThat(Staging.differences(source, disk.outside())).isEmpty();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"shm", "portals", "gni"})
    void shouldMeasureWithinTheSharedMemoryOfAContainer(String transport) throws Exception {
        Turns.assume(transport, "shm", "portals", "gni");
        try (ChaosDisk disk = ChaosDisk.open(folder.resolve("shm"), 64);
                Staging staging = new Staging(folder)) {
            assumeTrue(disk.isLimited(), disk.cause());
            List<String> prefix = new ArrayList<>(disk.prefix());
            prefix.addAll(List.of("env", "VERBENA_SHM_DIR=" + disk.inside()));
            for (String command : List.of("lat", "bw")) {
                for (String operation : List.of("put", "get", "send")) {
                    ChaosProcess process =
                            staging.command(
                                    command,
                                    prefix,
                                    command,
                                    "--transport=" + transport,
                                    "--op=" + operation,
                                    "--iterations=2000");
                    assertThat(process.awaitEnd(60)).as("%s", process.out()).isTrue();
                    assertThat(process.exitCode())
                            .as("%s %s: %s", command, operation, process.out())
                            .isZero();
                }
            }
        }
    }

    @Test
    void shouldWaitForSpaceForTheRestOfALongFile() throws Exception {
        Path source = Staging.files(folder.resolve("source"), (64 << 20) + 9_000_000);
        try (ChaosDisk disk = ChaosDisk.open(folder.resolve("arrived"), 78);
                Staging staging = new Staging(folder)) {
            assumeTrue(disk.isLimited(), disk.cause());
            ChaosProcess receiver = staging.receiver(disk.inside(), disk.prefix());
            staging.master();
            ChaosProcess send = staging.send(source);
            // The second part is stored, and does not fit a second time behind the first.
            receiver.awaitLine("waiting, cannot store source/file-0");
            assertThat(send.isAlive()).isTrue();
            disk.grow(200);
            assertThat(send.awaitEnd(90)).as("%s", send.out()).isTrue();
            assertThat(send.exitCode()).as("%s", send.out()).isZero();
            assertThat(Staging.differences(source, disk.outside())).isEmpty();
        }
    }

    @Test
    void shouldNameFullSharedMemory() throws Exception {
        try (ChaosDisk disk = ChaosDisk.open(folder.resolve("shm"), 3);
                Staging staging = new Staging(folder)) {
            assumeTrue(disk.isLimited(), disk.cause());
            List<String> prefix = new ArrayList<>(disk.prefix());
            prefix.addAll(List.of("env", "VERBENA_SHM_DIR=" + disk.inside()));
            for (String transport : List.of("shm", "portals", "gni")) {
                ChaosProcess master =
                        staging.command(
                                "master",
                                prefix,
                                "dart",
                                "master",
                                "--transport=" + transport,
                                "--config=" + folder.resolve("job.conf"),
                                "--receiver=127.0.0.1:1");
                assertThat(master.awaitEnd(60)).isTrue();
                assertThat(master.exitCode()).isEqualTo(1);
                assertThat(master.out().lines().filter(line -> line.startsWith("verbena")))
                        .as("%s", master.out())
                        .singleElement()
                        .asString()
                        .contains(disk.inside().toString(), "ENOSPC", "VERBENA_SHM_DIR");
            }
            disk.fill();
            ChaosProcess lat = staging.command("lat", prefix, "lat", "--transport=shm");
            assertThat(lat.awaitEnd(60)).isTrue();
            assertThat(lat.exitCode()).isEqualTo(1);
            assertThat(lat.out())
                    .contains(disk.inside().toString(), "ENOSPC", " 0 free")
                    .doesNotContain("\tat ");
        }
    }
}
