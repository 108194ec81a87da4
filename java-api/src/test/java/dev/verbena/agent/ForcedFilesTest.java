package dev.verbena.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.agent.DurableStore.Completion;
import dev.verbena.agent.DurableStore.DurableFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordingFile;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** When the store writes, forces and borrows the bytes that it is given. */
@Timeout(60)
class ForcedFilesTest extends StoreInFolder {
    @Test
    void shouldHoldTheBytesInOrderWhenForced() throws Exception {
        UnsafeBuffer bytes = random(12_345_678, 1);
        DurableFile file = store.create("a.bin");
        file.append(bytes, 0, 0);
        appendAll(file, bytes);
        assertThat(file.position()).isEqualTo(bytes.capacity());
        file.force();
        Await.until("forced", () -> file.forcedPosition() == bytes.capacity());
        assertThat(Files.readAllBytes(path("a.bin"))).isEqualTo(bytes.byteArray());
        file.close();
        DurableFile again = store.append("a.bin", bytes.capacity());
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
        DurableFile file = store.create("b");
        appendAll(file, random(1000, 2));
        Completion barrier = store.rename("absent", "other");
        Await.until("everything before the rename", barrier::isDone);
        assertThat(file.forcedPosition()).isEqualTo(-1);
        store.close();
    }

    @Test
    void shouldRefuseMoreWhenTheWriterIsBehindAndWakeWhenItIsNot() throws Exception {
        CountDownLatch blocked = new CountDownLatch(1);
        Semaphore woken = new Semaphore(0);
        store.queue()
                .add(
                        () -> {
                            try {
                                blocked.await();
                            } catch (InterruptedException e) {
                                throw new AssertionError(e);
                            }
                        });
        store.onReady(woken::release);
        UnsafeBuffer bytes = random(1 << 20, 5);
        DurableFile file = store.create("slow");
        long accepted = 0;
        int taken;
        while ((taken = file.append(bytes, 0, bytes.capacity())) > 0) {
            accepted += taken;
            assertThat(accepted).isLessThanOrEqualTo(8L << 20);
        }
        assertThat(taken).isZero();
        assertThat(accepted).isEqualTo(8L << 20);
        assertThat(file.position()).isEqualTo(accepted);
        assertThat(woken.availablePermits()).isZero();
        blocked.countDown();
        assertThat(woken.tryAcquire(30, TimeUnit.SECONDS)).isTrue();
        Await.until("room", () -> file.append(bytes, 0, 1) == 1);
        store.close();
        assertThat(Files.size(path("slow"))).isEqualTo(accepted + 1);
    }

    private static UnsafeBuffer direct(int length, long seed) {
        UnsafeBuffer bytes = new UnsafeBuffer(ByteBuffer.allocateDirect(length + 64), 64, length);
        bytes.putBytes(0, random(length, seed), 0, length);
        return bytes;
    }

    @Test
    void shouldWriteWhatStaysAsItIsFromWhereItIs() throws Exception {
        UnsafeBuffer stable = direct(3000, 5);
        UnsafeBuffer between = random(10, 6);
        DurableFile file = store.create("borrowed");
        Semaphore mayGoOn = heldUp();
        assertThat(file.isBorrowing()).isFalse();
        assertThat(file.appendStable(stable, 0, 1000)).isEqualTo(1000);
        assertThat(file.appendStable(stable, 1000, 500)).isEqualTo(500);
        assertThat(file.append(between, 0, 10)).isEqualTo(10);
        assertThat(file.appendStable(stable, 1500, 1500)).isEqualTo(1500);
        assertThat(file.position()).isEqualTo(3010);
        assertThat(file.isBorrowing()).isTrue();
        // That it was not copied shows a byte that changes all the same.
        stable.putByte(700, (byte) ~stable.getByte(700));
        mayGoOn.release();
        file.force();
        Await.until("forced", () -> file.forcedPosition() == 3010);
        assertThat(file.isBorrowing()).isFalse();
        byte[] wanted = new byte[3010];
        stable.getBytes(0, wanted, 0, 1500);
        between.getBytes(0, wanted, 1500, 10);
        stable.getBytes(1500, wanted, 1510, 1500);
        assertThat(Files.readAllBytes(path("borrowed"))).isEqualTo(wanted);
        store.close();
        assertThat(file.appendStable(stable, 0, 1)).isEqualTo(-1);
    }

    @Test
    void shouldBorrowNoMoreAtATimeThanItCopies() {
        UnsafeBuffer large = direct(9 << 20, 7);
        DurableFile file = store.create("large");
        Semaphore mayGoOn = heldUp();
        assertThat(file.appendStable(large, 0, 9 << 20)).isEqualTo(9 << 20);
        assertThat(file.appendStable(large, 0, 1)).isZero();
        assertThatThrownBy(() -> file.appendStable(large, 9 << 20, 1))
                .isInstanceOf(IndexOutOfBoundsException.class);
        mayGoOn.release();
        Await.until("written", () -> file.appendStable(large, 0, 1) == 1);
        // Memory of the Java heap may move: it is copied.
        assertThat(file.appendStable(random(5, 8), 0, 5)).isEqualTo(5);
        store.close();
        assertThat(path("large")).hasSize((9 << 20) + 6);
    }

    /** Forces of files whose paths end so, as the JVM's flight recorder saw them. */
    private long forces(Recording recording, String name) throws IOException {
        Path dump = directory.resolve("recording.jfr");
        recording.dump(dump);
        return RecordingFile.readAllEvents(dump).stream()
                .filter(event -> event.getEventType().getName().equals("jdk.FileForce"))
                .filter(event -> String.valueOf(event.getString("path")).endsWith(name))
                .count();
    }

    @Test
    void shouldForceAFileOnceForItsRename() throws Exception {
        try (Recording recording = new Recording()) {
            recording.enable("jdk.FileForce").withThreshold(Duration.ZERO);
            recording.start();
            DurableFile file = store.create("forced-once");
            appendAll(file, random(100, 9));
            file.force();
            Completion rename = store.rename("forced-once", "named");
            file.close();
            assertThat(done(rename)).isEmpty();
            recording.stop();
            assertThat(forces(recording, "forced-once")).isEqualTo(1);
        }
        assertThat(path("named")).hasSize(100);
    }

    @Test
    void shouldForceBeforeItsRenameWhatWasWrittenLater() throws Exception {
        try (Recording recording = new Recording()) {
            recording.enable("jdk.FileForce").withThreshold(Duration.ZERO);
            recording.start();
            DurableFile file = store.create("forced-twice");
            file.force();
            appendAll(file, random(100, 9));
            assertThat(done(store.rename("forced-twice", "named"))).isEmpty();
            file.close();
            recording.stop();
            assertThat(forces(recording, "forced-twice")).isEqualTo(2);
        }
    }

    /** The name of a folder is in the one above it. */
    @Test
    void shouldForceTheFoldersThatItMakesAreIn() throws Exception {
        Path link = Files.createSymbolicLink(directory.resolve("link"), path(""));
        try (Recording recording = new Recording()) {
            recording.enable("jdk.FileForce").withThreshold(Duration.ZERO);
            recording.start();
            FileDurableStore.open(link.resolve("in/deep-in/made"), errors::add).close();
            // It is there now.
            FileDurableStore.open(link.resolve("in/deep-in/made"), errors::add).close();
            recording.stop();
            assertThat(forces(recording, "in")).isEqualTo(2);
            assertThat(forces(recording, "store")).isEqualTo(1);
        }
        store.close();
    }

    /** An error handler that throws. */
    static void refuse(Throwable error) {
        throw new IllegalStateException("of a handler", error);
    }

    /** A thread that has ended is no proof that all is written. */
    @Test
    void shouldNotCloseAsIfAllWereWrittenWhenItsThreadHasDied() {
        FileDurableStore dying =
                FileDurableStore.open(directory.resolve("dying"), ForcedFilesTest::refuse);
        assertThat(done(dying.rename("absent", "other"))).contains("absent");
        appendAll(dying.create("lost"), random(9, 1));
        assertThatThrownBy(dying::close)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining(directory.resolve("dying") + " has not written all");
    }

    /** Or what comes later would be written where the missing bytes belong. */
    @Test
    void shouldFailTheFileWhateverKeepsItsBytesFromBeingWritten() {
        FileAppender file = (FileAppender) store.create("missing");
        store.queue().add(() -> file.write(null));
        Await.until("failed", () -> !file.error().isEmpty());
        assertThat(file.error()).contains(path("missing").toString());
        assertThat(file.append(random(1, 4), 0, 1)).isEqualTo(-1);
        store.close();
    }
}
