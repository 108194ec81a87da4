package dev.verbena.savime.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.agent.RealEnvironment;
import dev.verbena.savime.store.StagedFile;
import dev.verbena.savime.store.StagingDirectory;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class AdmissionTest {
    private static final int QUARTER = 1 << 18;

    @TempDir Path folder;

    /** A file that was taken out of the pool could not be deleted, and has its space still. */
    @Test
    void shouldHaveNoMemoryWhereMoreIsTakenThanThePoolCanGive() throws IOException {
        try (RealEnvironment environment = RealEnvironment.builder().job("admission").build();
                StagingDirectory directory = new StagingDirectory(folder, true)) {
            List<StagedFile> removed = new ArrayList<>();
            Admission admission = new Admission(EndsTest.settings(environment), removed::add);
            for (int id = 1; id <= 2; id++) {
                assertThat(admission.mayMake(QUARTER)).isTrue();
                admission.keep(directory.create(id, QUARTER));
            }
            assertThat(admission.freeMemory()).isEqualTo(4 * QUARTER);
            assertThat(admission.reserveMemory(3 * QUARTER)).isTrue();
            admission.charge(removed.get(0));
            assertThat(admission.freeMemory()).isZero();
            assertThat(admission.reserveMemory(30)).isFalse();
            assertThat(removed).hasSize(1);
            admission.release(true, QUARTER);
            assertThat(admission.freeMemory()).isEqualTo(QUARTER);
            assertThat(admission.reserveMemory(30)).isTrue();
        }
    }
}
