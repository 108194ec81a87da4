package dev.verbena.cli.nessie;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.nessie.xfer.XferReport;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Reports of runs as text. */
class XferTableTest {
    private final XferReport one = new XferReport(2, 40, 1000, 640_000, 650_000, 0.25);

    @Test
    void shouldHaveAColumnForEachNumber() {
        assertThat(XferTable.row(one).strip().split(" +"))
                .containsExactly("2", "40", "1000", "640000", "650000", "0.2500", "2.4");
        assertThat(XferTable.row(one)).hasSameSizeAs(XferTable.HEADER);
    }

    @Test
    void shouldAddUpInTheTimeOfTheSlowest() {
        XferReport other = new XferReport(1, 20, 1000, 320_000, 325_000, 0.5);
        assertThat(XferTable.sum(List.of(XferTable.words(one)))).isEqualTo(one);
        assertThat(XferTable.sum(List.of(XferTable.words(one), XferTable.words(other))))
                .isEqualTo(new XferReport(3, 60, 1000, 960_000, 975_000, 0.5));
    }

    @Test
    void shouldRefuseOtherWords() {
        assertThatThrownBy(() -> XferTable.sum(List.of("1 2 3")))
                .isInstanceOf(IllegalArgumentException.class);
    }
}
