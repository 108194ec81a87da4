package dev.verbena.examples.pic;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Timeout(20)
class PicDeckTest {
    @Test
    void shouldFindTheDefaultsInTheDocumentedDeck() {
        PicDeck documented = PicDeck.read(Path.of("two-stream.conf"));
        assertThat(documented).isEqualTo(PicDeck.defaults());
        assertThat(documented.parameters().particleCount()).isEqualTo(4 * 531_250L);
    }

    @Test
    void shouldReadBackWhatItWrites() {
        PicDeck deck =
                PicDeck.parse(
                        "d", List.of("time.step = 0.123456789", "length=12.3", "check.energy=7 %"));
        assertThat(PicDeck.parse("again", deck.text().lines().toList())).isEqualTo(deck);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "steps = many | whole number from 1 to 1000000",
                "steps = 0 | whole number from 1 to 1000000",
                "steps = 1e3 | whole number",
                "processes = 65 | from 1 to 64",
                "time.step = 0.6 | from 0.001 to 0.5",
                "time.step = NaN | from 0.001 to 0.5",
                "time.step = 1.2.3 | from 0.001 to 0.5",
                "length = Infinity | from 0.1 to 1000",
                "length = 0.2 | too short",
                "beam.thermal.speed = 0.7 | from 0 to 0.5",
                "perturbation = -1 | from 0.000001 to 0.2",
                "restart.size = 8.5 | from 1 kB to 1 GB",
                "restart.size = 2 GB | from 1 kB to 1 GB",
                "restart.size = 1 kB | at least 4 for each of the 128 cells",
                "restart.mode = fast | buffered, unbuffered",
                "check.growth = 5 | from 0.1 % to 100 %",
                "check.growth = 0 % | from 0.1 % to 100 %",
                "colour = blue | unknown key 'colour'; allowed: processes, steps",
                "steps 100 | has no '='",
                "steps = | has no value",
            })
    void shouldRefuseNonsenseNamingFileLineValueAndRange(String line, String message) {
        assertThatThrownBy(() -> PicDeck.parse("deck.conf", List.of("# a comment", "", line)))
                .isInstanceOf(DeckException.class)
                .hasMessageStartingWith("deck.conf:3: ")
                .hasMessageContaining(message);
    }

    @Test
    void shouldRefuseAKeyGivenTwice() {
        assertThatThrownBy(() -> PicDeck.parse("d", List.of("steps = 1", "steps = 2")))
                .hasMessage("d:2: 'steps' is given a second time, first in line 1");
    }

    @Test
    void shouldRefuseFilesThatAreNoDecks(@TempDir Path folder) throws Exception {
        Path missing = folder.resolve("none.conf");
        assertThatThrownBy(() -> PicDeck.read(missing)).hasMessageContaining("no such input deck");
        assertThatThrownBy(() -> PicDeck.read(folder)).hasMessageContaining("directory");
        Path binary = folder.resolve("binary.conf");
        Files.write(binary, new byte[] {(byte) 0xff, (byte) 0xfe, 0, 1});
        assertThatThrownBy(() -> PicDeck.read(binary)).hasMessageContaining("UTF-8");
        Path huge = folder.resolve("huge.conf");
        Files.write(huge, new byte[100_000]);
        assertThatThrownBy(() -> PicDeck.read(huge)).hasMessageContaining("100000 bytes");
    }

    @Test
    void shouldTakeUnitsAndComments() {
        PicDeck deck =
                PicDeck.parse(
                        "d",
                        List.of(
                                "  restart.size=80 kB # small",
                                "restart.mode = unbuffered",
                                "check.energy = 0.5%"));
        assertThat(deck.parameters().particleCount()).isEqualTo(4 * 5000L);
        assertThat(deck.buffered()).isFalse();
        assertThat(deck.energyTolerance()).isEqualTo(0.005);
    }
}
