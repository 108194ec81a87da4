package dev.verbena.cli.flesnet;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.cli.flesnet.WriteLoad.Measured;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What processes of a measurement tell each other. */
@Timeout(60)
class WriteLoadTest {
    @Test
    void shouldReadWhatItWrites() {
        WriteLoad load = new WriteLoad(List.of(64, 1 << 20), true, 64_000_000);
        assertThat(WriteLoad.of(load.words())).isEqualTo(load);
        Measured one = new Measured(64, true, 1600, 12_345);
        assertThat(Measured.of(one.line())).isEqualTo(one);
        assertThat(Measured.of("a warning of MPI")).isNull();
    }

    /** A few batches at least, and not millions of tiny messages. */
    @Test
    void shouldBoundTheRounds() {
        WriteLoad load = new WriteLoad(List.of(64, 1 << 20), false, 64_000_000);
        assertThat(load.batches(64)).isEqualTo(1000);
        assertThat(load.batches(64_000)).isEqualTo(62);
        assertThat(load.batches(1 << 26)).isEqualTo(2);
        assertThat(load.partLength()).isEqualTo(16 * ((1 << 20) + WriteLoad.SMALL));
    }
}
