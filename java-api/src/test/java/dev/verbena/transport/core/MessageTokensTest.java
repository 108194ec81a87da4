package dev.verbena.transport.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class MessageTokensTest {
    private final MessageTokens tokens = new MessageTokens(2);

    @Test
    void shouldTellWhetherAMessageGoesWithItsHandler() {
        long shown = tokens.take(5);
        long kept = tokens.take(6);
        assertThat(tokens.isFull()).isTrue();
        tokens.retain(kept);
        assertThat(tokens.isToBeReleased(shown)).isTrue();
        assertThat(tokens.isToBeReleased(kept)).isFalse();
        assertThat(tokens.connection(shown)).isEqualTo(5);
        assertThat(tokens.connection(kept)).isEqualTo(6);
        tokens.checkRetained(kept);
        tokens.free(shown);
        assertThat(tokens.isFull()).isFalse();
    }

    @Test
    void shouldRefuseTokensOfOtherMessages() {
        long before = tokens.take(5);
        tokens.free(before);
        long now = tokens.take(5);
        assertThat((int) now).as("the same slot").isEqualTo((int) before);
        assertThat(tokens.isToBeReleased(before)).isFalse();
        for (long wrong : new long[] {0, before, -1, now + 2, now + (1L << 32)}) {
            assertThatThrownBy(() -> tokens.retain(wrong))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("0x" + Long.toHexString(wrong));
        }
        assertThatThrownBy(() -> tokens.checkRetained(now)).hasMessageStartingWith("release");
        tokens.retain(now);
        assertThatThrownBy(() -> tokens.retain(now)).hasMessageStartingWith("retain");
    }
}
