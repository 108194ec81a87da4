package dev.verbena.examples.pic;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.Fuzz;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Decks that people write: whatever they contain, a deck or an error that names the line. */
@Timeout(240)
@Tag("seeded")
class PicFilesFuzzTest {
    @Test
    void shouldReadDecks() {
        byte[] valid = PicDeck.defaults().text().getBytes(ISO_8859_1);
        byte[] changed =
                "time.step = 0.1\nlength=12.3\ncheck.energy=7 %\nrestart.size = 2 MB\n"
                        .getBytes(ISO_8859_1);
        new Fuzz("deck", List.of(valid, changed), 4 << 20)
                .run(
                        input -> {
                            String text = new String(input, ISO_8859_1);
                            try {
                                assertThat(PicDeck.parse("deck", text.lines().toList()))
                                        .isNotNull();
                            } catch (DeckException e) {
                                assertThat(e).hasMessageStartingWith("deck");
                            }
                        });
    }
}
