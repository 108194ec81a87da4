package dev.verbena.cli.demo.transit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.examples.pic.RestartFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a receiver finds of files that came item by item to one that was killed. */
class ItemFilesTest {
    private static final String NAME = "run-r0-s4.vpic";

    @TempDir private Path folder;

    private Path item(int number) throws IOException {
        return Files.write(folder.resolve(NAME + "." + number), new byte[] {(byte) number});
    }

    @Test
    void shouldDeleteItemsThatWereLeftBesideTheWholeFile() throws IOException {
        Files.write(folder.resolve(NAME), new byte[] {1, 2, 3});
        Path left = item(RestartFile.ITEM_COUNT - 1);
        ItemFiles items = new ItemFiles(folder);
        assertThat(items.recover()).isEmpty();
        assertThat(items.isEmpty()).isTrue();
        assertThat(left).doesNotExist();
        assertThat(folder.resolve(NAME)).hasBinaryContent(new byte[] {1, 2, 3});
    }

    @Test
    void shouldGoOnWithAFileThatIsNotComplete() throws IOException {
        item(0);
        item(1);
        ItemFiles items = new ItemFiles(folder);
        assertThat(items.recover()).isEmpty();
        assertThat(items.isEmpty()).isFalse();
        assertThat(items.add(NAME, 1, item(1))).isTrue();
        assertThat(items.add(NAME, 2, item(2))).isTrue();
        assertThat(items.join(NAME)).isEqualTo(3);
        assertThat(items.isEmpty()).isTrue();
        assertThat(folder.resolve(NAME)).hasBinaryContent(new byte[] {0, 1, 2});
    }
}
