package dev.verbena.cli.terminal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class OutputFolderTest {
    private static final int RUNS = 40;

    @TempDir private Path folder;

    @Test
    void shouldGiveEachRunAFolderOfItsOwnThatBeginsAtTheSameTime() throws Exception {
        String parent = folder.resolve("output").toString();
        List<CompletableFuture<Path>> runs =
                Stream.generate(() -> CompletableFuture.supplyAsync(() -> next(parent)))
                        .limit(RUNS)
                        .toList();
        List<Path> folders = runs.stream().map(CompletableFuture::join).toList();
        assertThat(folders).doesNotHaveDuplicates().allMatch(Files::isDirectory);
        assertThat(next(parent)).isEqualTo(Path.of(parent, "run-" + (RUNS + 1)));
    }

    @Test
    void shouldLeaveALinkToWhatIsAbsent() throws IOException {
        Path link = Files.createSymbolicLink(folder.resolve("link"), Path.of("absent"));
        for (Path each : List.of(link, link.resolve("sub"))) {
            assertThatThrownBy(() -> OutputFolder.make("--directory", each))
                    .isInstanceOf(Messages.Failure.class);
            assertThat(link).isSymbolicLink();
        }
    }

    private static Path next(String parent) {
        try {
            return OutputFolder.prepareOrNext(null, parent);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
