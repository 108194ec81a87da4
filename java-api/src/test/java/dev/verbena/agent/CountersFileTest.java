package dev.verbena.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import org.agrona.concurrent.status.AtomicCounter;
import org.agrona.concurrent.status.CountersReader;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(60)
class CountersFileTest {
    @TempDir Path shm;

    private RealEnvironment environment() {
        return RealEnvironment.builder()
                .shmDirectory(shm)
                .job("counters-test")
                .application("a test, ä")
                .errorHandler(e -> {})
                .build();
    }

    @Test
    void shouldShowValuesLabelsAndErrorsOfARunningProcess() throws Exception {
        try (RealEnvironment environment = environment()) {
            AtomicCounter bytes = environment.counters().newCounter("bytes staged");
            bytes.set(41);
            bytes.increment();
            environment.errorHandler().onError(new IOException("disk on fire"));
            environment.errorHandler().onError(new IOException("disk on fire"));
            List<Path> paths = CountersFile.list(CountersFile.jobDirectory(shm, "counters-test"));
            assertThat(paths).containsExactly(environment.countersPath());
            CountersFile file = CountersFile.read(paths.get(0));
            Map<String, Long> seen = new HashMap<>();
            file.counters().forEach((value, id, label) -> seen.put(label, value));
            assertThat(seen).containsExactlyEntriesOf(Map.of("bytes staged", 42L));
            assertThat(file.pid()).isEqualTo(ProcessHandle.current().pid());
            assertThat(file.isAlive()).isTrue();
            assertThat(file.application()).isEqualTo("a test, ä");
            List<String> errors = new ArrayList<>();
            file.errors((count, first, last, text) -> errors.add(text));
            assertThat(errors).hasSize(2).allMatch(text -> text.contains("disk on fire"));
            assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(paths.get(0))))
                    .isEqualTo("rw-------");
        }
        assertThat(CountersFile.list(CountersFile.jobDirectory(shm, "counters-test"))).isEmpty();
        assertThat(CountersFile.list(shm.resolve("absent"))).isEmpty();
    }

    @Test
    void shouldCountEqualErrorsOnceWithTheirFirstAndLastTime() throws Exception {
        AtomicLong clock = new AtomicLong(1_000_000);
        try (RealEnvironment environment =
                RealEnvironment.builder()
                        .shmDirectory(shm)
                        .epochClock(clock::get)
                        .errorHandler(e -> {})
                        .build()) {
            for (int i = 0; i < 5; i++) {
                // The same place and text each time: one distinct error.
                environment.errorHandler().onError(new IOException("receiver gone"));
                clock.addAndGet(1000);
            }
            List<String> seen = new ArrayList<>();
            CountersFile.read(environment.countersPath())
                    .errors(
                            (count, first, last, text) ->
                                    seen.add(count + " " + first + " " + last));
            assertThat(seen).containsExactly("5 1000000 1004000");
        }
    }

    @Test
    void shouldStayBoundedWhenErrorsAreMany() throws Exception {
        try (RealEnvironment environment = environment()) {
            long length = Files.size(environment.countersPath());
            for (int i = 0; i < 2_000; i++) {
                environment.errorHandler().onError(new IOException("number " + i));
            }
            assertThat(Files.size(environment.countersPath())).isEqualTo(length);
            CountersFile file = CountersFile.read(environment.countersPath());
            int distinct = file.errors((count, first, last, text) -> {});
            assertThat(distinct).isBetween(10, 1_999);
            environment.counters().newCounter("after").set(3);
            assertThat(environment.counters().getCounterValue(0)).isEqualTo(3);
        }
    }

    @Test
    @Timeout(60)
    void shouldAppearWhole() throws Exception {
        Path job = CountersFile.jobDirectory(shm, "counters-test");
        try (RealEnvironment kept = environment()) {
            CompletableFuture<Void> others =
                    CompletableFuture.runAsync(
                            () -> {
                                for (int i = 0; i < 100; i++) {
                                    environment().close();
                                }
                            });
            while (!others.isDone()) {
                for (Path path : CountersFile.list(job)) {
                    try {
                        assertThat(CountersFile.read(path).isAlive()).isTrue();
                    } catch (NoSuchFileException e) {
                        // Closed since.
                        assertThat(path).isNotEqualTo(kept.countersPath());
                    }
                }
            }
            others.join();
        }
    }

    @Test
    void shouldLeaveFilesOfProcessesInOtherPidNamespaces() throws Exception {
        byte[] foreign;
        Path last;
        try (RealEnvironment environment = environment()) {
            foreign = Files.readAllBytes(environment.countersPath());
            last = environment.countersPath();
        }
        ByteBuffer header = ByteBuffer.wrap(foreign).order(ByteOrder.LITTLE_ENDIAN);
        header.putLong(24, header.getLong(24) - 60_000).putLong(112, header.getLong(112) + 1);
        for (int i = 0; i < DeadCounters.KEPT + 2; i++) {
            Files.write(last.resolveSibling("77-" + i + CountersFile.SUFFIX), foreign);
        }
        String[] ofTheNext = last.getFileName().toString().split("[-.]");
        int serial = Integer.parseInt(ofTheNext[1]) + 1;
        Path taken = last.resolveSibling(ofTheNext[0] + "-" + serial + CountersFile.SUFFIX);
        Files.write(taken, foreign);
        try (RealEnvironment environment = environment()) {
            assertThat(environment.countersPath()).isNotEqualTo(taken);
            assertThat(Files.readAllBytes(taken)).isEqualTo(foreign);
            assertThat(CountersFile.read(taken).isAlive()).isTrue();
            assertThat(CountersFile.list(last.getParent())).hasSize(DeadCounters.KEPT + 4);
        }
    }

    @Test
    void shouldKeepOnlyTheNewestFilesOfTheDead() throws Exception {
        byte[] dead;
        Path job;
        try (RealEnvironment environment = environment()) {
            environment.errorHandler().onError(new IOException("last words"));
            dead = Files.readAllBytes(environment.countersPath());
            job = environment.countersPath().getParent();
        }
        ByteBuffer header = ByteBuffer.wrap(dead).order(ByteOrder.LITTLE_ENDIAN);
        header.putLong(24, header.getLong(24) - 60_000);
        for (int i = 0; i < 12; i++) {
            Path path = Files.write(job.resolve("77-" + i + CountersFile.SUFFIX), dead);
            Files.setLastModifiedTime(path, FileTime.fromMillis(1_000_000L + i * 1_000L));
        }
        Files.write(job.resolve("being-made" + CountersFile.SUFFIX), new byte[200]);
        try (RealEnvironment environment = environment()) {
            List<String> left =
                    CountersFile.list(job).stream()
                            .map(path -> path.getFileName().toString())
                            .toList();
            assertThat(left)
                    .hasSize(DeadCounters.KEPT + 2)
                    .contains("being-made.counters", "77-4.counters", "77-11.counters")
                    .contains(environment.countersPath().getFileName().toString())
                    .doesNotContain("77-3.counters", "77-0.counters");
            List<String> errors = new ArrayList<>();
            CountersFile.read(job.resolve("77-11.counters"))
                    .errors((count, first, last, text) -> errors.add(text));
            assertThat(errors).hasSize(1).allMatch(text -> text.contains("last words"));
        }
    }

    @Test
    void shouldStayUsableWhenClosed() {
        RealEnvironment environment = environment();
        AtomicCounter counter = environment.counters().newCounter("late");
        environment.close();
        environment.close();
        counter.set(7);
        assertThat(counter.get()).isEqualTo(7);
    }

    @Test
    void shouldRefuseByNameWhenTheFileIsDamagedAtRandom() throws Exception {
        byte[] good;
        try (RealEnvironment environment = environment()) {
            environment.counters().newCounter("one").set(1);
            environment.errorHandler().onError(new IOException("x"));
            good = Files.readAllBytes(environment.countersPath());
        }
        Path path = shm.resolve("damaged" + CountersFile.SUFFIX);
        long seed = System.nanoTime();
        Random random = new Random(seed);
        int refused = 0;
        for (int i = 0; i < 500; i++) {
            byte[] bad = good.clone();
            for (int k = 0; k < 1 + random.nextInt(8); k++) {
                int span = random.nextBoolean() ? 128 : bad.length;
                bad[random.nextInt(span)] = (byte) random.nextInt();
            }
            int length = random.nextInt(4) == 0 ? random.nextInt(bad.length) : bad.length;
            Files.write(path, java.util.Arrays.copyOf(bad, length));
            try {
                CountersFile file = CountersFile.read(path);
                file.counters().forEach((value, id, label) -> {});
                file.errors((count, first, last, text) -> {});
            } catch (IOException e) {
                assertThat(e).as("seed %d", seed).hasMessageContaining(path.toString());
                refused++;
            }
        }
        assertThat(refused).as("seed %d", seed).isPositive();
    }

    @ParameterizedTest
    @ValueSource(ints = {-1, Integer.MIN_VALUE, 381, Integer.MAX_VALUE})
    void shouldRefuseALabelLongerThanItsRecord(int length) throws Exception {
        try (RealEnvironment environment = environment()) {
            environment.counters().newCounter("one").set(1);
            byte[] bytes = Files.readAllBytes(environment.countersPath());
            int at = 128 + CountersReader.LABEL_OFFSET;
            ByteBuffer.wrap(bytes).order(ByteOrder.nativeOrder()).putInt(at, length);
            Path path = Files.write(shm.resolve("long" + CountersFile.SUFFIX), bytes);
            assertThatThrownBy(() -> CountersFile.read(path))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining(path.toString())
                    .hasMessageContaining("counter 0 has a label of " + length + " bytes");
        }
    }

    @Test
    void shouldRefuseWhenTheFileIsOfAnotherKind() throws Exception {
        Path path = shm.resolve("text.counters");
        Files.write(path, new byte[4096]);
        assertThatThrownBy(() -> CountersFile.read(path))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("magic");
        Files.write(path, new byte[3]);
        assertThatThrownBy(() -> CountersFile.read(path)).hasMessageContaining("size 3");
    }

    @Test
    void shouldTellAProcessFromAnotherOfItsNumber() {
        long pid = ProcessHandle.current().pid();
        assertThat(ProcessIdentity.isAlive(pid, ProcessIdentity.ownStartMs())).isTrue();
        assertThat(ProcessIdentity.isAlive(pid, ProcessIdentity.ownStartMs() - 60_000)).isFalse();
        assertThat(ProcessIdentity.isAlive(0, 0)).isFalse();
    }

    @Test
    void shouldTakeAProcessForDeadWhenItIsAZombie() throws Exception {
        // The program that follows the shell never asks how its child ended.
        Process parent =
                new ProcessBuilder("sh", "-c", "sleep 60 & echo $!; exec sleep 60").start();
        try (BufferedReader reader = parent.inputReader()) {
            long pid = Long.parseLong(reader.readLine());
            awaitStat(parent.pid(), "(sleep) ");
            ProcessHandle.of(pid).orElseThrow().destroyForcibly();
            awaitStat(pid, ") Z ");
            assertThat(ProcessIdentity.isAlive(pid, 0)).isFalse();
            assertThat(ProcessIdentity.isAlive(parent.pid(), 0)).isTrue();
        } finally {
            parent.destroyForcibly().waitFor();
        }
    }

    private static void awaitStat(long pid, String text) throws IOException {
        while (!Files.readString(Path.of("/proc", Long.toString(pid), "stat")).contains(text)) {
            Thread.onSpinWait();
        }
    }

    @Test
    void shouldGiveTheSameNumbersWhenSeedAndNameAreTheSame() {
        try (RealEnvironment one = RealEnvironment.builder().shmDirectory(shm).seed(5).build();
                RealEnvironment two = RealEnvironment.builder().shmDirectory(shm).seed(5).build();
                RealEnvironment three =
                        RealEnvironment.builder().shmDirectory(shm).seed(6).build()) {
            long first = one.random("a").nextLong();
            assertThat(two.random("a").nextLong()).isEqualTo(first);
            assertThat(one.random("b").nextLong()).isNotEqualTo(first);
            assertThat(three.random("a").nextLong()).isNotEqualTo(first);
        }
        assertThatThrownBy(() -> RealEnvironment.builder().job("../x").build())
                .hasMessageContaining("job '../x'");
    }

    /** As a process leaves it that is killed. */
    private byte[] ofTheDead() throws IOException {
        byte[] dead;
        try (RealEnvironment environment = environment()) {
            dead = Files.readAllBytes(environment.countersPath());
        }
        ByteBuffer header = ByteBuffer.wrap(dead).order(ByteOrder.LITTLE_ENDIAN);
        header.putLong(24, header.getLong(24) - 60_000);
        return dead;
    }

    private Path remains(Path folder) throws IOException {
        byte[] dead = ofTheDead();
        Files.createDirectory(folder);
        for (int i = 0; i < DeadCounters.KEPT + 2; i++) {
            Files.write(folder.resolve("77-" + i + CountersFile.SUFFIX), dead);
        }
        return folder;
    }

    /** Opening a pipe waits for its other end. */
    @Test
    @Timeout(20)
    @Tag("dart-S7")
    void shouldNotWaitAtAPipe() throws Exception {
        environment().close();
        Path job = CountersFile.jobDirectory(shm, "counters-test");
        Path pipe = job.resolve("x" + CountersFile.SUFFIX);
        assertThat(new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor()).isZero();
        assertThatThrownBy(() -> CountersFile.read(pipe))
                .isInstanceOf(IOException.class)
                .hasMessageContaining(pipe.toString());
        environment().close();
        assertThat(pipe).exists();
    }

    @Test
    @Tag("dart-S7")
    void shouldRemoveNothingThroughALink() throws Exception {
        Path ofOthers = remains(shm.resolve("of-others"));
        Files.createSymbolicLink(CountersFile.userDirectory(shm).resolve("linked"), ofOthers);
        environment().close();
        assertThat(CountersFile.list(ofOthers)).hasSize(DeadCounters.KEPT + 2);
    }

    @Test
    @Tag("dart-S7")
    void shouldRemoveNothingFromAFolderThatItRefuses() throws Exception {
        Path elsewhere = Files.createDirectory(shm.resolve("elsewhere"));
        Path job = remains(elsewhere.resolve("job"));
        Path refused = Files.createDirectory(shm.resolve("refused"));
        Files.createSymbolicLink(CountersFile.userDirectory(refused), elsewhere);
        RealEnvironment.Builder builder = RealEnvironment.builder().shmDirectory(refused);
        assertThatThrownBy(builder::build).isInstanceOf(UncheckedIOException.class);
        assertThat(CountersFile.list(job)).hasSize(DeadCounters.KEPT + 2);
    }
}
