package dev.verbena.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.agent.DurableStore.Completion;
import dev.verbena.agent.DurableStore.DurableFile;
import dev.verbena.agent.DurableStore.ReadableFile;
import dev.verbena.softnic.NativeAccess;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(60)
class FileDurableStoreTest {
    static {
        NativeAccess.open();
    }

    @TempDir Path directory;
    private final List<Throwable> errors = new CopyOnWriteArrayList<>();
    private FileDurableStore store;

    @BeforeEach
    void open() {
        store = FileDurableStore.open(directory.resolve("store"), errors::add);
    }

    private Path path(String name) {
        return directory.resolve("store").resolve(name);
    }

    private static UnsafeBuffer random(int length, long seed) {
        byte[] bytes = new byte[length];
        new Random(seed).nextBytes(bytes);
        return new UnsafeBuffer(bytes);
    }

    private static void appendAll(DurableFile file, UnsafeBuffer bytes) {
        int[] at = new int[1];
        Await.until(
                () -> "room for more; " + file.error(),
                () -> {
                    int taken = file.append(bytes, at[0], bytes.capacity() - at[0]);
                    assertThat(taken).isNotNegative();
                    at[0] += taken;
                    return at[0] == bytes.capacity();
                });
    }

    @Test
    void shouldHoldTheBytesInOrderWhenForced() throws Exception {
        UnsafeBuffer bytes = random(12_345_678, 1);
        DurableFile file = store.append("a.bin");
        file.append(bytes, 0, 0);
        appendAll(file, bytes);
        assertThat(file.position()).isEqualTo(bytes.capacity());
        file.force();
        Await.until("forced", () -> file.forcedPosition() == bytes.capacity());
        assertThat(Files.readAllBytes(path("a.bin"))).isEqualTo(bytes.byteArray());
        file.close();
        DurableFile again = store.append("a.bin");
        assertThat(again.position()).isEqualTo(bytes.capacity());
        again.append(bytes, 0, 5);
        again.force();
        Await.until("forced", () -> again.forcedPosition() == bytes.capacity() + 5);
        store.close();
        assertThat(Files.size(path("a.bin"))).isEqualTo(bytes.capacity() + 5);
        assertThat(errors).isEmpty();
    }

    @Test
    void shouldNotReportBytesAsForcedWhenNobodyAskedForIt() {
        DurableFile file = store.append("b");
        appendAll(file, random(1000, 2));
        Completion barrier = store.rename("absent", "other");
        Await.until("everything before the rename", barrier::isDone);
        assertThat(file.forcedPosition()).isEqualTo(-1);
        store.close();
    }

    @Test
    void shouldRenameAndDeleteAfterWhatWasAskedBefore() {
        DurableFile file = store.append("c.part");
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

    @Test
    void shouldFailTheFileByNameWhenTheDeviceIsFull() throws Exception {
        Files.createSymbolicLink(path("full"), Path.of("/dev/full"));
        DurableFile file = store.append("full");
        DurableFile other = store.append("other");
        file.append(random(100, 4), 0, 100);
        Await.until("failed", () -> !file.error().isEmpty());
        assertThat(file.error()).contains(path("full").toString()).contains("No space left");
        assertThat(file.append(random(1, 4), 0, 1)).isEqualTo(-1);
        file.force();
        Completion rename = store.rename("full", "complete");
        Await.until("refused", rename::isDone);
        assertThat(rename.error()).contains("No space left");
        assertThat(file.forcedPosition()).isNotPositive();
        file.close();
        Completion late = store.rename("full", "complete");
        Await.until("refused", late::isDone);
        assertThat(late.error()).contains("No space left");
        appendAll(other, random(100, 4));
        other.force();
        Await.until("the other file works", () -> other.forcedPosition() == 100);
        store.close();
    }

    @Test
    void shouldRefuseMoreWhenTheWriterIsBehindAndWakeWhenItIsNot() throws Exception {
        CountDownLatch blocked = new CountDownLatch(1);
        Semaphore woken = new Semaphore(0);
        store.enqueue(
                () -> {
                    try {
                        blocked.await();
                    } catch (InterruptedException e) {
                        throw new AssertionError(e);
                    }
                });
        store.onReady(woken::release);
        UnsafeBuffer bytes = random(1 << 20, 5);
        DurableFile file = store.append("slow");
        long accepted = 0;
        int taken;
        while ((taken = file.append(bytes, 0, bytes.capacity())) > 0) {
            accepted += taken;
            assertThat(accepted).isLessThanOrEqualTo(64L << 20);
        }
        assertThat(taken).isZero();
        assertThat(file.position()).isEqualTo(accepted);
        assertThat(woken.availablePermits()).isZero();
        blocked.countDown();
        assertThat(woken.tryAcquire(30, TimeUnit.SECONDS)).isTrue();
        Await.until("room", () -> file.append(bytes, 0, 1) == 1);
        store.close();
        assertThat(Files.size(path("slow"))).isEqualTo(accepted + 1);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", ".", "..", "a/b", "../x", "/etc/passwd", "a\0b", "a\nb", "a\\b"})
    void shouldRefuseWhenTheNameIsNotOnePlainElement(String name) {
        assertThatThrownBy(() -> store.append(name)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> store.read(name)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> store.rename("ok", name))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("file name");
        assertThatThrownBy(() -> store.append("x".repeat(256))).hasMessageContaining("255");
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
        DurableFile file = store.append("late");
        store.close();
        store.close();
        assertThat(file.append(random(1, 7), 0, 1)).isEqualTo(-1);
        assertThatThrownBy(() -> store.append("z")).hasMessageContaining("is closed");
    }
}
