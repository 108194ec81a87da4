package dev.verbena.ofi.transport;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.flesnet.FlesnetRun;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Timeslices are built over libfabric's provider tcp, and over {@code auto} with both parts. */
@Timeout(120)
@ExtendWith(NeedsLibfabric.class)
class FlesnetOverOfiTest {
    private static final int TIMESLICES = 100;

    @TempDir Path directory;

    @ParameterizedTest
    @ValueSource(strings = {"ofi", "auto"})
    void shouldBuildEveryTimesliceOnce(String scheme) {
        try (FlesnetRun run = new FlesnetRun(directory, c -> c.scheme(scheme).nodes(2, 2))) {
            run.all(TIMESLICES, 256, 128).awaitDone();
            List<Long> indices =
                    run.delivered.stream()
                            .flatMap(timeslices -> timeslices.indices.stream())
                            .sorted()
                            .toList();
            assertThat(indices)
                    .containsExactlyElementsOf(LongStream.range(0, TIMESLICES).boxed().toList());
        }
    }
}
