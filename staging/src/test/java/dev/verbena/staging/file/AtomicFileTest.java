package dev.verbena.staging.file;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.agent.Await;
import dev.verbena.agent.DurableStore;
import dev.verbena.agent.RealEnvironment;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class AtomicFileTest {
    @TempDir Path directory;
    private RealEnvironment environment;
    private DurableStore store;
    private AtomicFile file;

    @BeforeEach
    void open() {
        environment = RealEnvironment.create();
        store = environment.store(directory.toString());
        file = new AtomicFile(store, "it", "it.next");
    }

    @AfterEach
    void close() {
        file.close();
        store.close();
        environment.close();
    }

    private static UnsafeBuffer bytes(String text) {
        return new UnsafeBuffer(text.getBytes());
    }

    private void finish(String text) {
        UnsafeBuffer content = bytes(text);
        Await.until(
                file::error,
                () -> {
                    file.doWork(content, content.capacity());
                    return file.isIdle() || !file.error().isEmpty();
                });
    }

    private void replace(String text) {
        file.replace();
        finish(text);
    }

    private String found() throws IOException {
        return Files.readString(directory.resolve("it"));
    }

    @Test
    void shouldReplaceTheWholeFile() throws IOException {
        replace("a long first content");
        assertThat(found()).isEqualTo("a long first content");
        replace("second");
        assertThat(found()).isEqualTo("second");
        assertThat(file.length()).isEqualTo(6);
        assertThat(directory.resolve("it.next")).doesNotExist();
    }

    @Test
    void shouldAppendInRounds() throws IOException {
        replace("head");
        file.append();
        finish(" and more");
        file.append();
        finish("");
        assertThat(found()).isEqualTo("head and more");
        replace("new");
        assertThat(found()).isEqualTo("new");
    }

    @Test
    void shouldKeepTheOldContentUntilTheNewOneIsComplete() throws IOException {
        replace("old");
        file.replace();
        UnsafeBuffer content = bytes("new");
        while (!file.isRenaming()) {
            assertThat(found()).isEqualTo("old");
            file.doWork(content, 3);
        }
    }

    @Test
    void shouldRecoverFromACrashBetweenWriteAndRename() throws IOException {
        replace("old");
        Files.writeString(directory.resolve("it.next"), "what a crash has left, and longer");
        assertThat(found()).isEqualTo("old");
        AtomicFile after = new AtomicFile(store, "it", "it.next");
        file.close();
        file = after;
        replace("new");
        assertThat(found()).isEqualTo("new");
        assertThat(directory.resolve("it.next")).doesNotExist();
    }

    /** What was taken of the content that was given up is written later than it is given up. */
    @Test
    void shouldHoldNothingOfAContentThatWasGivenUp() throws IOException {
        UnsafeBuffer givenUp = new UnsafeBuffer(new byte[4 << 20]);
        for (int i = 0; i < 20; i++) {
            file.replace();
            file.doWork(givenUp, givenUp.capacity());
            Await.until("replaceable", file::canReplace);
            replace("new");
            assertThat(directory.resolve("it")).hasSize(3);
        }
        assertThat(found()).isEqualTo("new");
    }

    @Test
    void shouldDeleteWhatIsUnfinishedWhenClosed() throws IOException {
        replace("old");
        file.replace();
        file.close();
        Await.until("deleted", () -> !Files.exists(directory.resolve("it.next")));
        assertThat(found()).isEqualTo("old");
    }

    @Test
    void shouldSayWhyItFailedAndBeReplacedAfterwards() throws IOException {
        Files.createDirectory(directory.resolve("it"));
        Files.createFile(directory.resolve("it").resolve("inside"));
        replace("new");
        assertThat(file.error()).contains("it");
        assertThat(file.isIdle()).isFalse();
        assertThat(file.doWork(bytes("new"), 3)).isZero();
        Files.delete(directory.resolve("it").resolve("inside"));
        Files.delete(directory.resolve("it"));
        replace("new");
        assertThat(file.error()).isEmpty();
        assertThat(found()).isEqualTo("new");
    }

    @Test
    void shouldFailWhereTheFileCannotBeMade() throws IOException {
        Files.createDirectory(directory.resolve("it.next"));
        replace("new");
        assertThat(file.error()).contains("it.next");
        assertThat(directory.resolve("it")).doesNotExist();
    }

    @Test
    void shouldRefuseWhatItsStateDoesNotAllow() {
        assertThatThrownBy(() -> file.append()).isInstanceOf(IllegalStateException.class);
        assertThat(file.doWork(bytes(""), 0)).isZero();
        file.replace();
        assertThatThrownBy(() -> file.append()).isInstanceOf(IllegalStateException.class);
    }
}
