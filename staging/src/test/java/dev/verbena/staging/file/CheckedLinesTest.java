package dev.verbena.staging.file;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Timeout(30)
class CheckedLinesTest {
    private static final String TEXT = CheckedLines.encode("a=1\nb=x=y\n");

    @Test
    void shouldReadWhatItWrote() {
        Map<String, String> values = CheckedLines.parse(TEXT, 1000);
        assertThat(values).containsEntry("a", "1").containsEntry("b", "x=y");
        assertThat(CheckedLines.needNumber(values, "a", 1)).isEqualTo(1);
    }

    @ParameterizedTest
    @CsvSource({
        "'a=1\n', no crc",
        "'a=1\ncrc=00000000\n', does not match",
        "'a=1\ncrc=1\nb=2\n', a line after",
        "'a=1\na=2\n', two lines a=",
        "'a\n', without '='",
        "'=a\n', without '='",
        "'a=1', not ended",
        "'a=12345678901234567890\n', longer than 20",
    })
    void shouldNameWhatIsWrong(String text, String expected) {
        assertThatThrownBy(() -> CheckedLines.parse(text, 20))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(expected);
    }

    @Test
    void shouldRefuseAbsentAndWrongNumbers() {
        Map<String, String> values = Map.of("n", "-1", "m", "2x", "l", "11");
        for (String key : new String[] {"k", "n", "m", "l"}) {
            assertThatThrownBy(() -> CheckedLines.needNumber(values, key, 10))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining(key + "=");
        }
    }

    @Test
    void shouldNoticeEveryDamagedByte() {
        SplittableRandom random = new SplittableRandom(7);
        for (int at = 0; at < TEXT.length(); at++) {
            char[] damaged = TEXT.toCharArray();
            damaged[at] ^= 1 + random.nextInt(127);
            assertThatThrownBy(() -> CheckedLines.parse(new String(damaged), 1000))
                    .isInstanceOf(IllegalArgumentException.class);
            String cut = TEXT.substring(0, at);
            assertThatThrownBy(() -> CheckedLines.parse(cut, 1000))
                    .isInstanceOf(IllegalArgumentException.class);
        }
    }
}
