package dev.verbena.nsim.internal;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class SpellingTest {
    private static final List<String> WORDS = List.of("ring-barrier", "random-ring", "put");

    @Test
    void shouldNameTheNearestWordIfOneIsNear() {
        assertThat(Spelling.hint("ring-barier", WORDS)).isEqualTo("; did you mean 'ring-barrier'?");
        assertThat(Spelling.hint("Random-Rnig", WORDS)).isEqualTo("; did you mean 'random-ring'?");
        assertThat(Spelling.hint("ptu", WORDS)).isEqualTo("; did you mean 'put'?");
        assertThat(Spelling.hint("pingpong", WORDS)).isEmpty();
        assertThat(Spelling.hint("", WORDS)).isEmpty();
    }

    @Test
    void shouldCountLettersThatDiffer() {
        assertThat(Spelling.distance("", "abc")).isEqualTo(3);
        assertThat(Spelling.distance("abc", "abc")).isZero();
        assertThat(Spelling.distance("abc", "acb")).isEqualTo(1);
        assertThat(Spelling.distance("kitten", "sitting")).isEqualTo(3);
    }
}
