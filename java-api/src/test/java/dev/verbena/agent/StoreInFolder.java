package dev.verbena.agent;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.agent.DurableStore.Completion;
import dev.verbena.agent.DurableStore.DurableFile;
import dev.verbena.softnic.NativeAccess;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Semaphore;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/** A store in a folder of the test's own. */
abstract class StoreInFolder {
    static {
        NativeAccess.open();
    }

    @TempDir Path directory;
    final List<Throwable> errors = new CopyOnWriteArrayList<>();
    FileDurableStore store;

    @BeforeEach
    void open() {
        store = FileDurableStore.open(directory.resolve("store"), errors::add);
    }

    Path path(String name) {
        return directory.resolve("store").resolve(name);
    }

    /** Keeps the store's thread from its next task until the semaphore is released. */
    Semaphore heldUp() {
        Semaphore mayGoOn = new Semaphore(0);
        Semaphore isWaiting = new Semaphore(0);
        store.queue()
                .add(
                        () -> {
                            isWaiting.release();
                            mayGoOn.acquireUninterruptibly();
                        });
        isWaiting.acquireUninterruptibly();
        return mayGoOn;
    }

    static UnsafeBuffer random(int length, long seed) {
        byte[] bytes = new byte[length];
        new Random(seed).nextBytes(bytes);
        return new UnsafeBuffer(bytes);
    }

    static void appendAll(DurableFile file, UnsafeBuffer bytes) {
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

    static String done(Completion completion) {
        Await.until("done", completion::isDone);
        return completion.error();
    }
}
