package dev.verbena.cli.demo;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.cli.terminal.SizedFolder;
import dev.verbena.examples.pic.PicDeck;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class DemoPlanTest {
    private static DemoPlan plan(String... deck) {
        return new DemoPlan(
                PicDeck.parse("test", List.of(deck)),
                "shm",
                2,
                null,
                0,
                Path.of("a, b"),
                60,
                0,
                true,
                true,
                new DemoPlan.SharedMemory(1, 3, 1));
    }

    private static SizedFolder spill(String option) {
        return new SizedFolder.OfSpill().convert(option);
    }

    /** One server may get all files of the run; the option has a largest number. */
    @Test
    void shouldAllowServersToSpillTheWholeRun() {
        DemoPlan usual = plan();
        String option = usual.spillFolder() + "," + usual.spillMax();
        assertThat(spill(option).directory()).isEqualTo(usual.spillFolder());
        assertThat(spill(option).size())
                .isGreaterThan(usual.fileCount() * usual.deck().restartLength());
        DemoPlan tiny = plan("processes = 1", "restart.size = 10 kB", "steps = 10");
        assertThat(tiny.spillMax()).as("four buffers of a server").isEqualTo(4 << 20);
        DemoPlan huge = plan("processes = 64", "restart.size = 1 GB", "steps = 1000000");
        assertThat(spill("x," + huge.spillMax()).size()).isEqualTo(huge.spillMax());
    }
}
