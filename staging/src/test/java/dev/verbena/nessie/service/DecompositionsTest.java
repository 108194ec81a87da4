package dev.verbena.nessie.service;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.nessie.nnti.NntiBuffer;
import dev.verbena.staging.metadata.Box;
import java.nio.file.Path;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Random decompositions of random arrays, by two clients, are the plain array. */
@Timeout(240)
@Tag("once")
class DecompositionsTest {
    private static final int BYTES_MAX = 1 << 17;

    @TempDir Path directory;

    /** In all 1,000; the memory of the last row holds a few pieces only. */
    @ParameterizedTest
    @CsvSource({"1, 400, 1073741824", "3, 400, 1073741824", "2, 200, 150000"})
    void shouldEqualAPlainArray(int serverCount, int rounds, long memory) throws Exception {
        ArrayServerOptions options =
                ArrayServerOptions.DEFAULT.withMemory(memory).withVersionsKept(2);
        try (ArrayServers servers = new ArrayServers(directory, serverCount, options)) {
            ArrayClient writer = servers.client();
            ArrayClient reader = servers.client();
            for (int round = 0; round < rounds; round++) {
                SplittableRandom random = new SplittableRandom(round + 1000L * serverCount);
                ArrayDescription array = array(round, random);
                PlainArray plain = new PlainArray(array, round);
                for (Box box : PlainArray.decompose(array.whole(), 1 + random.nextInt(8), random)) {
                    NntiBuffer from = writer.allocate(plain.length(box));
                    plain.fill(box, from);
                    writer.put(array, box, from);
                    writer.release(from);
                }
                // Sealing waits for the disk: every tenth round, and always when memory is short.
                boolean isSealed = round % 10 == 0 || memory < BYTES_MAX * 8L;
                if (isSealed) {
                    writer.seal(array.name(), array.version());
                }
                read(reader, array, plain, random, isSealed, "round " + round);
            }
            assertThat(servers.errors).isEmpty();
        }
    }

    private static ArrayDescription array(int round, SplittableRandom random) {
        ArrayType type = ArrayType.of(1 + random.nextInt(ArrayType.values().length));
        int dimensions = 1 + random.nextInt(4);
        long[] shape = new long[dimensions];
        int longest = (int) Math.pow(BYTES_MAX / 8.0, 1.0 / dimensions);
        for (int i = 0; i < dimensions; i++) {
            shape[i] = 1 + random.nextInt(random.nextBoolean() ? 4 : longest);
        }
        return new ArrayDescription("field", round, type, Box.whole(shape));
    }

    private static void read(
            ArrayClient reader,
            ArrayDescription array,
            PlainArray plain,
            SplittableRandom random,
            boolean isSealed,
            String what) {
        List<Box> boxes = PlainArray.decompose(array.whole(), 1 + random.nextInt(8), random);
        for (Box box : boxes) {
            NntiBuffer into = reader.allocate(plain.length(box));
            long wanted = isSealed && random.nextBoolean() ? ArrayClient.LATEST : array.version();
            long got = reader.get(array.name(), wanted, box, into, 0);
            assertThat(got).as(what).isEqualTo(array.version());
            assertThat(plain.mismatch(box, into))
                    .as("%s, box %s of %s", what, box, array)
                    .isEqualTo(-1);
            reader.release(into);
        }
    }
}
