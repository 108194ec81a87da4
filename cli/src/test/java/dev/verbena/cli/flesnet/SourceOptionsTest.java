package dev.verbena.cli.flesnet;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Files that are read one after the other. */
@Timeout(60)
class SourceOptionsTest {
    @TempDir private Path folder;

    @Test
    void shouldReadASequenceToItsEnd() throws IOException {
        int count = 10_001;
        for (int n = 0; n < count; n++) {
            Files.createFile(folder.resolve("run-%04d.msa".formatted(n)));
        }
        Files.createFile(folder.resolve("run-10002.msa"));
        List<Path> files = SourceOptions.files(folder.resolve("run-%n.msa").toString());
        assertThat(files.size()).isEqualTo(count);
        assertThat(files.get(count - 1)).isEqualTo(folder.resolve("run-10000.msa"));
    }
}
