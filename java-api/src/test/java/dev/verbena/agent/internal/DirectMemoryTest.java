package dev.verbena.agent.internal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import org.junit.jupiter.api.Test;

/** The JVM gave up once or for good. */
class DirectMemoryTest {
    private int calls;

    private ByteBuffer shortUntil(int call, int length) {
        if (++calls < call) {
            throw new OutOfMemoryError("Cannot reserve, call " + calls);
        }
        return ByteBuffer.allocate(length);
    }

    @Test
    void shouldTryAgainAfterGarbageWasCollected() {
        assertThat(DirectMemory.allocate(100, length -> shortUntil(3, length)).capacity())
                .isEqualTo(100);
        assertThat(calls).isEqualTo(3);
    }

    @Test
    void shouldGiveUpInTheEnd() {
        assertThatThrownBy(() -> DirectMemory.allocate(1, length -> shortUntil(1000, length)))
                .isInstanceOf(OutOfMemoryError.class)
                .hasMessage("Cannot reserve, call 5");
    }
}
