package dev.verbena.staging.transfer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.staging.TransportPair;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class PartBuffersTest {
    @Test
    void shouldGiveEachBufferOnce() {
        try (TransportPair pair = new TransportPair();
                PartBuffers buffers = new PartBuffers(pair.left, 2, 5000)) {
            assertThat(buffers.freeCount()).isEqualTo(2);
            int first = buffers.acquire();
            int second = buffers.acquire();
            assertThat(first).isNotEqualTo(second);
            assertThat(buffers.acquire()).isEqualTo(-1);
            assertThat(Math.abs(buffers.offset(first) - buffers.offset(second))).isEqualTo(8192);
            assertThat(buffers.window(first).capacity()).isEqualTo(5000);
            buffers.release(first);
            assertThatThrownBy(() -> buffers.release(first))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("free already");
            assertThat(buffers.acquire()).isEqualTo(first);
        }
    }
}
