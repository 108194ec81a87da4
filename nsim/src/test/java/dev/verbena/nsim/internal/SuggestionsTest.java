package dev.verbena.nsim.internal;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class SuggestionsTest {
    private static final List<String> WORDS = List.of("ring-barrier", "random-ring", "put");

    @Test
    void shouldNameTheNearestWordIfOneIsNear() {
        assertThat(Suggestions.hint("ring-barier", WORDS))
                .isEqualTo("; did you mean 'ring-barrier'?");
        assertThat(Suggestions.hint("Random-Rnig", WORDS))
                .isEqualTo("; did you mean 'random-ring'?");
        assertThat(Suggestions.hint("ptu", WORDS)).isEqualTo("; did you mean 'put'?");
        assertThat(Suggestions.hint("pingpong", WORDS)).isEmpty();
        assertThat(Suggestions.hint("", WORDS)).isEmpty();
    }

    @Test
    void shouldCountLettersThatDiffer() {
        assertThat(Suggestions.distance("", "abc")).isEqualTo(3);
        assertThat(Suggestions.distance("abc", "abc")).isZero();
        assertThat(Suggestions.distance("abc", "acb")).isEqualTo(1);
        assertThat(Suggestions.distance("kitten", "sitting")).isEqualTo(3);
    }
}
