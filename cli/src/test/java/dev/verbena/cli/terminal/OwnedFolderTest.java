package dev.verbena.cli.terminal;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class OwnedFolderTest {
    @TempDir Path parent;

    /** Where everybody may write, another user may have made a folder of that name. */
    @Test
    void shouldMakeAFolderOfItsOwnWhereTheNameIsTaken() throws IOException {
        String name = "verbena-run-" + ProcessHandle.current().pid();
        Path taken = Files.createDirectory(parent.resolve(name));
        Path created = OwnedFolder.create(parent);
        assertThat(created).isNotEqualTo(taken);
        assertThat(created.getFileName().toString()).startsWith(name + "-");
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(created)))
                .isEqualTo("rwx------");
        assertThat(taken).isEmptyDirectory();
        OwnedFolder.removeLeft(parent);
        assertThat(created).as("of a process that lives").exists();
    }

    private Path folder(String name, byte... mark) throws IOException {
        Path folder = Files.createDirectory(parent.resolve("verbena-run-" + name));
        Files.write(folder.resolve("owner"), mark);
        return folder;
    }

    private String markOfAProcessThatHasGone() throws IOException {
        String mark = Files.readString(OwnedFolder.create(parent).resolve("owner"));
        return mark.replaceFirst("\\S+ \\S+", "999999999 1");
    }

    /** A folder may be shared with other hosts and containers, where its process may live. */
    @Test
    void shouldRemoveWhatAProcessOfThisHostHasLeftAndNothingElse() throws IOException {
        String left = markOfAProcessThatHasGone();
        assertThat(left.split(" ")).hasSize(3);
        Path here = folder("here", left.getBytes(UTF_8));
        Path elsewhere = folder("elsewhere", (left + "0").getBytes(UTF_8));
        OwnedFolder.removeLeft(parent);
        assertThat(here).doesNotExist();
        assertThat(elsewhere).exists();
    }

    @Test
    void shouldGoOnBehindAFolderThatItCannotRemove() throws IOException {
        byte[] left = markOfAProcessThatHasGone().getBytes(UTF_8);
        for (int i = 0; i < 8; i++) {
            folder("unreadable" + i, (byte) 0xff);
            folder("left" + i, left);
        }
        OwnedFolder.removeLeft(parent);
        try (Stream<Path> stay = Files.list(parent)) {
            assertThat(stay.filter(path -> path.toString().contains("left"))).isEmpty();
        }
    }
}
