package dev.verbena.nessie.service;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.nessie.nnti.NntiBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The array service over shm://. */
@Timeout(120)
class ArrayServiceTest {
    @TempDir Path directory;

    private static ArrayDescription grid(String name, long version, long... shape) {
        return new ArrayDescription(name, version, ArrayType.INT64, Box.whole(shape));
    }

    private static Box box(long... startThenCount) {
        int n = startThenCount.length / 2;
        return Box.of(
                java.util.Arrays.copyOf(startThenCount, n),
                java.util.Arrays.copyOfRange(startThenCount, n, 2 * n));
    }

    private static void fill(NntiBuffer memory, long first) {
        for (int i = 0; i < memory.length() / 8; i++) {
            memory.window().putLong(8 * i, first + i, ByteOrder.LITTLE_ENDIAN);
        }
    }

    private static long element(NntiBuffer memory, int i) {
        return memory.window().getLong(8 * i, ByteOrder.LITTLE_ENDIAN);
    }

    @Test
    void shouldGiveAnyBoxOfWhatWasPut() throws Exception {
        try (ArrayServers servers = new ArrayServers(directory, 1, ArrayServerOptions.DEFAULT)) {
            ArrayClient writer = servers.client();
            ArrayClient reader = servers.client();
            ArrayDescription array = grid("t", 7, 4, 4);
            NntiBuffer half = writer.allocate(8 * 8);
            fill(half, 0);
            writer.put(array, box(0, 0, 2, 4), half);
            fill(half, 8);
            writer.put(array, box(2, 0, 2, 4), half);
            NntiBuffer middle = reader.allocate(4 * 8);
            assertThat(reader.get("t", 7, box(1, 1, 2, 2), middle, 0)).isEqualTo(7);
            for (int i = 0; i < 4; i++) {
                assertThat(element(middle, i)).isEqualTo(5 + i / 2 * 4 + i % 2);
            }
            assertThatThrownBy(
                            () -> reader.get("t", ArrayClient.LATEST, box(0, 0, 2, 2), middle, 0))
                    .isInstanceOf(ArrayException.class)
                    .hasMessage("array 't', latest version: there is none");
            writer.seal("t", 7);
            assertThat(reader.get("t", ArrayClient.LATEST, box(0, 0, 2, 2), middle, 0))
                    .isEqualTo(7);
            assertThat(reader.versions("t", -1, 0)).containsExactly(7);
            assertThat(servers.errors).isEmpty();
        }
    }
}
