package dev.verbena.savime.forward;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.savime.RecordingSink;
import dev.verbena.savime.store.MetaFile;
import dev.verbena.savime.store.StagedFile;
import dev.verbena.savime.store.StagingDirectory;
import dev.verbena.savime.wire.DatasetState;
import dev.verbena.staging.forward.SinkTask;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a try that failed says of whether the sink may have the dataset. */
class ForwardTaskTest {
    private static final int LENGTH = 4096;

    @TempDir Path folder;

    @Test
    void shouldHaveBegunNothingWhereTheBeginningCouldNotBeWrittenDown() throws Exception {
        MetaFile meta =
                new MetaFile(
                        1, "d", "char", LENGTH, 1, 2, DatasetState.RECEIVED, false, 0, 0, 1, null);
        RecordingSink sink = new RecordingSink(1);
        try (StagingDirectory directory = new StagingDirectory(folder, true)) {
            StagedFile file = directory.create(1, LENGTH);
            String data = file.data().toString();
            Path inTheWay =
                    Files.createDirectory(Path.of(data.substring(0, data.length() - 4) + "meta"));
            SinkTask task = ForwardTask.dataset(this, file, meta, false);
            assertThat(task.run(sink.open())).as("the session can be used again").isTrue();
            assertThat(task.result()).isEqualTo(SinkTask.Result.NOT_BEGUN);
            assertThat(task.text()).contains("meta");
            assertThat(sink.order).isEmpty();
            Files.delete(inTheWay);
            SinkTask next = ForwardTask.dataset(this, file, meta, false);
            assertThat(next.run(sink.open())).isTrue();
            assertThat(next.result()).isEqualTo(SinkTask.Result.OK);
            assertThat(sink.order).containsExactly("d");
        }
    }
}
