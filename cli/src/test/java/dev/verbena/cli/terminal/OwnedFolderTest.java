package dev.verbena.cli.terminal;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
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
}
