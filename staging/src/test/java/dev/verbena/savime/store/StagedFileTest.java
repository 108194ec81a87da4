package dev.verbena.savime.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.memory.OffHeapMemory;
import dev.verbena.savime.wire.DatasetState;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A staged file that could not be renamed leaves nothing behind when it is removed. */
class StagedFileTest {
    private static final int LENGTH = 4096;

    @TempDir Path folder;
    private StagingDirectory directory;
    private StagedFile file;

    @BeforeEach
    void open() throws IOException {
        directory = new StagingDirectory(folder, true);
        file = directory.create(1, LENGTH);
    }

    @AfterEach
    void close() {
        directory.close();
    }

    @Test
    void shouldLeaveNothingWhereItsMetaFileCouldNotBeReplaced() throws IOException {
        Files.createDirectory(directory.meta(1));
        MetaFile meta =
                new MetaFile(
                        1, "d", "char", LENGTH, 1, 2, DatasetState.RECEIVING, false, 0, 0, 0, null);
        assertThatThrownBy(() -> file.writeMeta(meta)).isInstanceOf(IOException.class);
        file.remove(false);
        assertThat(folder).isDirectoryNotContaining("glob:**/1.*");
    }

    @Test
    void shouldLeaveNothingWhereItCouldNotBeGivenToAnother() throws IOException {
        Files.createDirectory(directory.data(2));
        assertThatThrownBy(() -> directory.reuse(file, 2)).isInstanceOf(IOException.class);
        file.remove(false);
        assertThat(folder).isDirectoryNotContaining("glob:**/1.*");
    }

    @Test
    void shouldBeHeldAsLongAsATransportMayWriteToIt() throws IOException {
        OffHeapMemory memory = file.map(0, LENGTH);
        memory.acquire("a lost peer");
        file.remove(false);
        assertThat(folder).isDirectoryNotContaining("glob:**/1.*");
        assertThat(file.isHeld()).isTrue();
        memory.buffer(0, LENGTH).putByte(0, (byte) 1);
        memory.release("a lost peer");
        assertThat(file.isHeld()).isFalse();
        assertThat(memory.isClosed()).isTrue();
    }
}
