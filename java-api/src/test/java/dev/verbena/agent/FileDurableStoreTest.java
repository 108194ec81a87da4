package dev.verbena.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.verbena.agent.DurableStore.Completion;
import dev.verbena.agent.DurableStore.DurableFile;
import dev.verbena.agent.DurableStore.ReadableFile;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.agrona.concurrent.UnsafeBuffer;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(60)
class FileDurableStoreTest extends StoreInFolder {
    private static final int OPEN_MAX = 20;

    @Test
    void shouldRenameAndDeleteAfterWhatWasAskedBefore() {
        DurableFile file = store.create("c.part");
        appendAll(file, random(700_000, 3));
        file.close();
        Completion rename = store.rename("c.part", "c");
        Await.until("renamed", rename::isDone);
        assertThat(rename.error()).isEmpty();
        assertThat(store.list()).containsExactly("c");
        assertThat(path("c")).hasSize(700_000);
        Completion delete = store.delete("c");
        Await.until("deleted", delete::isDone);
        assertThat(delete.error()).isEmpty();
        assertThat(store.list()).isEmpty();
        Completion missing = store.rename("c", "d");
        Await.until("refused", missing::isDone);
        assertThat(missing.error()).contains(path("c").toString());
        store.close();
    }

    /** Makes a file, without blocks, to which its file system lets nobody append. */
    private static long longest(Path path) throws IOException {
        long length = 0;
        try (RandomAccessFile file = new RandomAccessFile(path.toFile(), "rw")) {
            for (long bit = 1L << 62; bit > 0; bit >>= 1) {
                try {
                    file.setLength(length | bit);
                    length |= bit;
                } catch (IOException e) {
                    // Longer than its file system allows.
                }
            }
            file.setLength(length);
        }
        return length;
    }

    @Test
    void shouldFailTheFileByNameWhenTheDeviceIsFull() throws Exception {
        long length = longest(path("full"));
        DurableFile file = store.append("full", length);
        DurableFile other = store.create("other");
        file.append(random(100, 4), 0, 100);
        Await.until("failed", () -> !file.error().isEmpty());
        assertThat(file.error()).contains(path("full").toString()).contains("File too large");
        assertThat(file.append(random(1, 4), 0, 1)).isEqualTo(-1);
        file.force();
        Completion rename = store.rename("full", "complete");
        Await.until("refused", rename::isDone);
        assertThat(rename.error()).contains("File too large");
        assertThat(file.forcedPosition()).isNotPositive();
        file.close();
        Completion late = store.rename("full", "complete");
        Await.until("refused", late::isDone);
        assertThat(late.error()).contains("File too large");
        appendAll(other, random(100, 4));
        other.force();
        Await.until("the other file works", () -> other.forcedPosition() == 100);
        store.close();
    }

    /**
     * Neither kept in memory, nor held against a file of its name that somebody else puts there.
     */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldForgetAFailureWithTheFileThatIsDeleted(boolean isDeletedByOthers) throws Exception {
        DurableFile file = store.append("full", longest(path("full")));
        file.append(random(100, 4), 0, 100);
        Await.until("failed", () -> !file.error().isEmpty());
        file.close();
        assertThat(done(store.rename("full", "complete"))).contains("File too large");
        if (isDeletedByOthers) {
            Files.delete(path("full"));
        }
        assertThat(done(store.delete("full")).isEmpty()).isNotEqualTo(isDeletedByOthers);
        Files.write(path("full"), new byte[3]);
        assertThat(done(store.rename("full", "complete"))).isEmpty();
        store.close();
    }

    @Test
    @Tag("dart-S7")
    void shouldNotFollowALinkThatSomebodyPutIntoItsFolder() throws Exception {
        Path victim = Files.write(directory.resolve("victim"), new byte[] {1, 2, 3});
        for (String name : List.of("new", "old", "lock", "moved")) {
            Files.createSymbolicLink(path(name), victim);
        }
        Files.createSymbolicLink(path("dangling"), directory.resolve("made"));
        assertThat(store.create("new").error()).contains("it is a link");
        assertThat(store.create("dangling").error()).contains("it is a link");
        assertThat(store.append("dangling", 0).error()).contains("it is a link");
        assertThat(store.append("old", 0).error()).contains("it is a link");
        assertThat(store.append("old", 3).error()).contains("it is a link");
        assertThatThrownBy(() -> store.read("old")).hasMessageContaining("it is a link");
        assertThatThrownBy(() -> store.tryLock("lock", 0)).hasMessageContaining("it is a link");
        assertThatThrownBy(() -> store.isLocked("lock", 0, 1)).hasMessageContaining("it is a link");
        Completion rename = store.rename("moved", "final");
        Await.until("refused", rename::isDone);
        assertThat(rename.error()).contains("it is a link");
        assertThat(store.list()).isEmpty();
        store.close();
        assertThat(victim).hasBinaryContent(new byte[] {1, 2, 3});
        assertThat(directory.resolve("made")).doesNotExist();
    }

    @Test
    @Tag("dart-S7")
    void shouldMakeANewFileOnlyWhereThereIsNone() throws Exception {
        Files.write(path("there"), new byte[0]);
        assertThat(store.create("there").error()).contains(path("there").toString());
        store.close();
    }

    /** Opening a pipe waits for its other end. */
    @Test
    @Timeout(20)
    @Tag("dart-S7")
    void shouldNotWaitAtAPipe() throws Exception {
        Process mkfifo = new ProcessBuilder("mkfifo", path("pipe").toString()).start();
        assertThat(mkfifo.waitFor()).isZero();
        assertThat(store.append("pipe", 0).error()).contains("a pipe");
        assertThatThrownBy(() -> store.read("pipe")).hasMessageContaining("a pipe");
        store.close();
    }

    private FileDurableStore few() {
        return FileDurableStore.open(directory.resolve("store"), errors::add, OPEN_MAX);
    }

    private long descriptors() throws IOException {
        try (Stream<Path> all = Files.list(Path.of("/proc/self/fd"))) {
            return all.filter(fd -> isInStore(fd)).count();
        }
    }

    private boolean isInStore(Path descriptor) {
        try {
            return Files.readSymbolicLink(descriptor).startsWith(directory);
        } catch (IOException e) {
            return false; // Closed meanwhile.
        }
    }

    /** Thousands of files at a time: as many descriptors as one process may have. */
    @Test
    void shouldWriteToMoreFilesThanItHasDescriptors() throws Exception {
        int count = 2 * OPEN_MAX + 5;
        FileDurableStore store = few();
        List<DurableFile> files = new ArrayList<>();
        DurableFile renamed = store.create("first");
        appendAll(renamed, random(100, 1));
        Completion rename = store.rename("first", "second");
        Await.until("renamed", rename::isDone);
        for (int i = 0; i < count; i++) {
            files.add(store.create("f" + i));
            assertThat(descriptors()).isLessThanOrEqualTo(OPEN_MAX + 3);
        }
        for (int round = 0; round < 2; round++) {
            for (int i = 0; i < count; i++) {
                appendAll(files.get(i), random(50 + i, i + round));
            }
        }
        files.forEach(DurableFile::force);
        Await.until(
                "forced",
                () -> files.stream().allMatch(file -> file.forcedPosition() == file.position()));
        assertThat(descriptors()).isLessThanOrEqualTo(OPEN_MAX + 3);
        // It was closed under the one name and is opened again under the other.
        appendAll(renamed, random(7, 2));
        files.forEach(DurableFile::close);
        renamed.close();
        store.close();
        assertThat(descriptors()).isZero();
        assertThat(path("second")).hasSize(107);
        for (int i = 0; i < count; i++) {
            byte[] expected = Arrays.copyOf(random(50 + i, i).byteArray(), 100 + 2 * i);
            random(50 + i, i + 1).getBytes(0, expected, 50 + i, 50 + i);
            assertThat(path("f" + i)).hasBinaryContent(expected);
        }
        assertThat(errors).isEmpty();
    }

    @Test
    void shouldFailAFileThatSomebodyChangedWhileItWasClosed() throws Exception {
        FileDurableStore store = few();
        DurableFile first = store.create("first");
        appendAll(first, random(100, 1));
        for (int i = 0; i < OPEN_MAX; i++) {
            appendAll(store.create("f" + i), random(10, i));
        }
        Completion barrier = store.rename("absent", "other");
        Await.until("everything before the rename", barrier::isDone);
        Files.write(path("first"), new byte[3]);
        first.append(random(5, 5), 0, 5);
        Await.until("failed", () -> !first.error().isEmpty());
        assertThat(first.error()).contains("3 bytes instead of 100");
        store.close();
    }

    @ParameterizedTest
    @ValueSource(strings = {"", ".", "..", "a/b", "../x", "/etc/passwd", "a\0b", "a\nb", "a\\b"})
    void shouldRefuseWhenTheNameIsNotOnePlainElement(String name) {
        assertThatThrownBy(() -> store.create(name)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> store.read(name)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> store.rename("ok", name))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("file name");
        assertThatThrownBy(() -> store.create("x".repeat(256))).hasMessageContaining("255");
        assertThatThrownBy(() -> store.create("\u00e4".repeat(128))).hasMessageContaining("255");
        assertThatThrownBy(() -> store.read("a\nb/c")).hasMessageContaining("'a?b/c'");
        assertThat(store.create("\u00e4" + "x".repeat(253)).error()).isEmpty();
        store.close();
    }

    @Test
    void shouldReadAnyRangeAndTellTheEnd() throws Exception {
        UnsafeBuffer bytes = random(600_000, 6);
        Files.write(path("r"), bytes.byteArray());
        assertThat(store.read("absent")).isNull();
        UnsafeBuffer to = new UnsafeBuffer(new byte[700_000]);
        try (ReadableFile file = store.read("r")) {
            assertThat(file.length()).isEqualTo(600_000);
            assertThat(file.read(0, to, 0, 700_000)).isEqualTo(600_000);
            assertThat(to.compareTo(new UnsafeBuffer(to, 0, 600_000))).isPositive();
            assertThat(new UnsafeBuffer(to, 0, 600_000)).isEqualTo(bytes);
            assertThat(file.read(599_999, to, 0, 10)).isEqualTo(1);
            assertThat(file.read(600_000, to, 0, 10)).isEqualTo(-1);
        }
        store.close();
    }

    @Test
    void shouldSayWhyWhenTheDirectoryCannotBeMadeOrTheStoreIsClosed() throws Exception {
        Files.write(directory.resolve("file"), new byte[1]);
        assertThatThrownBy(() -> FileDurableStore.open(directory.resolve("file/x"), errors::add))
                .hasMessageContaining(directory.resolve("file/x").toString());
        DurableFile file = store.create("late");
        store.close();
        store.close();
        assertThat(file.append(random(1, 7), 0, 1)).isEqualTo(-1);
        assertThat(store.queue().take((FileAppender) file, random(1, 7), 0, 1)).isEqualTo(-1);
        List<ThrowingCallable> calls =
                List.of(
                        () -> store.create("z"),
                        () -> store.append("z", 0),
                        () -> store.read("z"),
                        store::list,
                        () -> store.rename("late", "z"),
                        () -> store.delete("late"),
                        () -> store.tryLock("z", 0),
                        () -> store.isLocked("z", 0, 1));
        for (ThrowingCallable call : calls) {
            assertThatThrownBy(call).hasMessageContaining("is closed");
        }
        assertThat(path("late")).exists();
        assertThat(path("z")).doesNotExist();
    }

    @Test
    void shouldListByName() throws Exception {
        List<String> names = new ArrayList<>();
        for (int i = 10; i < 40; i++) {
            names.add("f" + i);
            Files.write(path("f" + (i * 7 % 30 + 10)), new byte[1]);
        }
        Files.createDirectory(path("folder"));
        assertThat(store.list()).isEqualTo(names);
        store.close();
    }

    @Test
    void shouldLockBytesOnce() throws Exception {
        AutoCloseable lock = store.tryLock("lock", 7);
        assertThat(lock).isNotNull();
        assertThat(store.tryLock("lock", 7)).isNull();
        assertThat(store.isLocked("lock", 7, 8)).isTrue();
        assertThat(store.isLocked("lock", 8, 9)).isFalse();
        assertThat(store.isLocked("none", 7, 8)).isFalse();
        lock.close();
        assertThat(store.isLocked("lock", 7, 8)).isFalse();
        store.close();
    }

    /** Another process that looks for a lock: exits with 1 if somebody has it, else with 0. */
    static final class Look {
        private Look() {}

        /** Folder, file and position. */
        public static void main(String[] args) {
            long position = Long.parseLong(args[2]);
            boolean isLocked;
            try (FileDurableStore store = FileDurableStore.open(Path.of(args[0]), e -> {})) {
                isLocked = store.isLocked(args[1], position, position + 1);
            }
            System.exit(isLocked ? 1 : 0);
        }
    }

    private int lookFromAnotherProcess(Path folder, String name, long position) throws Exception {
        return new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Xmx64m",
                        "-cp",
                        System.getProperty("java.class.path"),
                        Look.class.getName(),
                        folder.toString(),
                        name,
                        Long.toString(position))
                .inheritIO()
                .start()
                .waitFor();
    }

    /** To close another channel of a file would end all locks that this process has on it. */
    @Test
    void shouldKeepItsLocksWhenItsFolderIsLookedIntoThroughALink() throws Exception {
        Path link = Files.createSymbolicLink(directory.resolve("link"), path("lock").getParent());
        FileDurableStore linked = FileDurableStore.open(link, errors::add);
        AutoCloseable lock = store.tryLock("lock", 7);
        assertThat(linked.isLocked("lock", 7, 8)).isTrue();
        assertThat(linked.isLocked("lock", 8, 9)).isFalse();
        assertThat(linked.tryLock("lock", 7)).isNull();
        assertThat(lookFromAnotherProcess(link, "lock", 7)).isEqualTo(1);
        lock.close();
        assertThat(lookFromAnotherProcess(link, "lock", 7)).isZero();
        linked.close();
        store.close();
    }

    /** The failure of a file is that of one that is no more. */
    @Test
    void shouldForgetAFailedFileOnceAnotherHasItsName() throws Exception {
        for (String name : List.of("a", "b")) {
            DurableFile failed = store.append(name, longest(path(name)));
            failed.append(random(1, 4), 0, 1);
            Await.until("failed", () -> !failed.error().isEmpty());
            failed.close();
            assertThat(done(store.rename(name, "moved"))).contains("has failed");
        }
        Files.delete(path("a"));
        DurableFile again = store.create("a");
        appendAll(again, random(5, 1));
        again.close();
        assertThat(done(store.rename("b", "moved"))).contains("has failed");
        assertThat(done(store.rename("a", "b"))).isEmpty();
        assertThat(done(store.rename("b", "c"))).isEmpty();
        store.close();
        assertThat(path("c")).hasSize(5);
    }

    private static UnsafeBuffer bytes(String text) {
        return new UnsafeBuffer(text.getBytes(StandardCharsets.US_ASCII));
    }

    @Test
    void shouldCutAFileBehindWhatAnEarlierOneOfItsNameStillWrites() throws Exception {
        Semaphore mayGoOn = heldUp();
        DurableFile old = store.append("x", 0);
        appendAll(old, bytes("old"));
        old.close();
        DurableFile begun = store.append("x", 0);
        appendAll(begun, bytes("new"));
        mayGoOn.release();
        begun.force();
        Await.until("forced", () -> begun.forcedPosition() == 3);
        assertThat(path("x")).hasContent("new");
        mayGoOn = heldUp();
        appendAll(begun, bytes("er than that"));
        begun.close();
        DurableFile kept = store.append("x", 2);
        assertThat(kept.position()).isEqualTo(2);
        appendAll(kept, bytes("xt"));
        mayGoOn.release();
        store.close();
        assertThat(path("x")).hasContent("next");
    }

    @Test
    void shouldFailAFileThatIsTooShortWhenItIsItsTurn() throws Exception {
        Files.write(path("x"), new byte[5]);
        Semaphore mayGoOn = heldUp();
        store.append("x", 0).close();
        DurableFile file = store.append("x", 5);
        assertThat(file.error()).isEmpty();
        mayGoOn.release();
        Await.until("failed", () -> !file.error().isEmpty());
        assertThat(file.error()).contains(path("x").toString()).contains("0 bytes instead of 5");
        store.close();
        assertThat(path("x")).isEmptyFile();
    }

    @Test
    void shouldWriteAllBeforeItIsClosedWhenItsCallerIsInterrupted() {
        DurableFile file = store.create("x");
        store.queue().add(() -> LockSupport.parkNanos(200_000_000));
        appendAll(file, random(5_000_000, 1));
        Thread.currentThread().interrupt();
        Throwable thrown = catchThrowable(store::close);
        assertThat(Thread.interrupted()).as("the mark is kept").isTrue();
        assertThat(thrown).isNull();
        assertThat(path("x")).hasSize(5_000_000);
        assertThat(errors).isEmpty();
    }

    /** Whoever stores goes on; a process that ends without closing is not kept. */
    @Test
    void shouldHandErrorsOnAndHoldNothingLonger() throws Exception {
        store.queue()
                .add(
                        () -> {
                            assertThat(Thread.currentThread().isDaemon()).isTrue();
                            throw new IllegalStateException("of a task");
                        });
        store.onReady(
                () -> {
                    throw new IllegalStateException("of a wake-up");
                });
        assertThat(done(store.rename("absent", "other"))).contains("absent");
        DurableFile file = store.create("open");
        assertThat(descriptors()).isEqualTo(1);
        appendAll(file, random(9, 1));
        store.close();
        assertThat(descriptors()).isZero();
        assertThat(path("open")).hasSize(9);
        assertThat(errors.stream().map(Throwable::getMessage))
                .contains("of a task", "of a wake-up")
                .anyMatch(text -> text.startsWith("renaming " + path("absent")));
    }

    /** Nobody else would write what is accepted after it. */
    @Test
    void shouldGoOnWhenTheErrorHandlerThrows() {
        RealEnvironment.Builder builder =
                RealEnvironment.builder()
                        .shmDirectory(directory)
                        .errorHandler(ForcedFilesTest::refuse);
        try (RealEnvironment environment = builder.build();
                DurableStore its = environment.store(directory.resolve("store").toString())) {
            assertThat(done(its.rename("absent", "other"))).contains("absent");
            DurableFile file = its.create("later");
            appendAll(file, random(9, 1));
            file.force();
            Await.until("forced", () -> file.forcedPosition() == 9);
        }
        assertThat(path("later")).hasSize(9);
    }

    /** What could not be made has written nothing: the file of its name is another. */
    @Test
    void shouldNotHoldAgainstAFileThatItCouldNotBeMadeTwice() {
        DurableFile sound = store.create("x");
        appendAll(sound, random(5, 1));
        assertThat(store.create("x").error()).contains("there already");
        assertThat(done(store.rename("x", "moved"))).isEmpty();
        store.close();
        assertThat(path("moved")).hasSize(5);
    }
}
