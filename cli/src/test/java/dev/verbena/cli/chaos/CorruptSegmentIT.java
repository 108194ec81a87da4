package dev.verbena.cli.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.Turns;
import dev.verbena.agent.CountersFile;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Random words are written into the live shared memory of a process that sends, its counters too:
 * no process crashes or hangs, another sender loses nothing, and what shows counters goes on.
 */
@Timeout(240)
class CorruptSegmentIT {
    private static final int ROUNDS = 3;
    private static final int WRITES = 200;

    @TempDir private Path folder;
    private Path shm;

    @BeforeEach
    void makeSharedFolder() throws IOException {
        Path base = Path.of("/dev/shm");
        shm = Files.createTempDirectory(Files.isWritable(base) ? base : folder, "corrupt");
    }

    @AfterEach
    void deleteSharedFolder() throws IOException {
        try (Stream<Path> files = Files.walk(shm)) {
            for (Path file : files.sorted(java.util.Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(file);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"shm", "portals", "gni"})
    void shouldEndOrGoOnAndLeaveOthersAlone(String scheme) throws Exception {
        Turns.assume(scheme, "shm", "portals", "gni");
        long seed = Long.getLong("verbena.seed", System.nanoTime() % 1_000_000_007);
        System.out.println("corrupt segment: -Dverbena.seed=" + seed + " over " + scheme);
        List<String> prefix = List.of("env", "VERBENA_SHM_DIR=" + shm);
        Path arrived = folder.resolve("arrived");
        try (Staging staging = new Staging(folder)) {
            ChaosProcess receiver = staging.receiver(arrived, prefix);
            ChaosProcess master =
                    staging.command(
                            "master",
                            prefix,
                            "dart",
                            "master",
                            "--transport=" + scheme,
                            "--config=" + staging.config(),
                            "--buffer-size=1",
                            "--receiver=127.0.0.1:" + staging.proxy.port());
            master.awaitLine("master ready");
            List<Path> before = segments();
            ChaosProcess victim = staging.client(prefix, scheme, 0, seed);
            victim.awaitLine("streamed");
            List<Path> ofVictim = segments();
            ofVictim.removeAll(before);
            ChaosProcess bystander = staging.client(prefix, scheme, 9, seed);
            bystander.awaitLine("streamed");
            assertThat(ofVictim)
                    .anyMatch(CorruptSegmentIT::isCounters)
                    .anyMatch(f -> !isCounters(f));
            Random random = new Random(seed);
            for (int round = 0; round < ROUNDS; round++) {
                corrupt(ofVictim, random);
                shouldStillShow(staging, prefix, "status", "--all");
                shouldStillShow(staging, prefix, "top", "--once", "--interval=0.1");
                shouldStillShow(staging, prefix, "errors", "--stack");
            }
            bystander.finish();
            victim.finish();
            assertThat(bystander.awaitEnd(90)).as("%s", bystander.out()).isTrue();
            assertThat(bystander.exitCode()).as("%s", bystander.out()).isZero();
            assertThat(bystander.out()).doesNotContain("failed chaos");
            shouldNotHaveCrashed(victim);
            assertThat(master.isAlive()).as("%s", master.out()).isTrue();
            master.terminate();
            shouldNotHaveCrashed(master);
            receiver.terminate();
            shouldNotHaveCrashed(receiver);
            compare(bystander, arrived, seed);
        }
    }

    private void shouldNotHaveCrashed(ChaosProcess process) throws Exception {
        assertThat(process.awaitEnd(90)).as("%s hangs: %s", process.name, process.out()).isTrue();
        assertThat(process.exitCode()).as("%s", process.out()).isIn(0, 1, 143);
        try (Stream<Path> files = Files.list(folder)) {
            assertThat(files.map(file -> file.getFileName().toString()))
                    .noneMatch(name -> name.startsWith("hs_err") || name.startsWith("core"));
        }
    }

    private List<Path> segments() throws IOException {
        try (Stream<Path> files = Files.walk(shm)) {
            return new java.util.ArrayList<>(files.filter(Files::isRegularFile).toList());
        }
    }

    private static boolean isCounters(Path file) {
        return file.toString().endsWith(CountersFile.SUFFIX);
    }

    /** Whoever reads the counters says which file is damaged, and shows the others. */
    private void shouldStillShow(Staging staging, List<String> prefix, String... command)
            throws Exception {
        ChaosProcess reader = staging.command(command[0], prefix, command);
        assertThat(reader.awaitEnd(60)).as("%s hangs: %s", reader.name, reader.out()).isTrue();
        assertThat(reader.exitCode()).as("%s", reader.out()).isZero();
        assertThat(reader.out()).doesNotContain("Exception in thread");
        if (!command[0].equals("errors")) { // those that it shows may have such frames
            assertThat(reader.out()).contains("dart master");
            // But for the lines of errors that status shows.
            assertThat(reader.out().lines().filter(line -> !line.contains(" times: ")))
                    .noneMatch(line -> line.contains("java.lang."));
        }
    }

    private static void corrupt(List<Path> files, Random random) throws Exception {
        assertThat(files).isNotEmpty();
        byte[] word = new byte[8];
        for (int i = 0; i < WRITES; i++) {
            Path file = files.get(random.nextInt(files.size()));
            try (RandomAccessFile out = new RandomAccessFile(file.toFile(), "rw")) {
                long length = Math.min(out.length(), 1 << (12 + random.nextInt(10)));
                if (length >= word.length) {
                    random.nextBytes(word);
                    out.seek(random.nextInt((int) length - word.length + 1));
                    out.write(word, 0, 1 + random.nextInt(word.length));
                }
            } catch (NoSuchFileException | java.io.FileNotFoundException e) {
                // It has closed it.
            }
            Thread.sleep(10);
        }
    }

    private static void compare(ChaosProcess client, Path arrived, long seed) throws IOException {
        for (String line : client.out().split("\n")) {
            if (line.startsWith("streamed ")) {
                Payload.Name name = Payload.Name.parse(line.substring(9).strip());
                byte[] found = Files.readAllBytes(arrived.resolve(name.toString()));
                assertThat(Arrays.equals(found, Payload.bytes(seed, name))).as(line).isTrue();
            }
        }
    }
}
