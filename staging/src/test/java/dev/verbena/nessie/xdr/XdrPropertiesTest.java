package dev.verbena.nessie.xdr;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.Fuzz;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.ShrinkingMode;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.lifecycle.AfterContainer;
import net.jqwik.api.lifecycle.BeforeContainer;
import org.agrona.ExpandableArrayBuffer;
import org.agrona.IoUtil;
import org.agrona.concurrent.UnsafeBuffer;

/** Random values of random types; hostile bytes for their decoders. */
class XdrPropertiesTest {
    private static final RandomXdr RANDOM = new RandomXdr(20_121, 60);
    private static Path folder;
    private static GeneratedXdr xdr;

    @BeforeContainer
    static void compile() throws IOException {
        folder = Files.createTempDirectory("xdr-properties");
        xdr = GeneratedXdr.compile(folder, "random.x", RANDOM.source());
    }

    @AfterContainer
    static void close() throws IOException {
        xdr.close();
        IoUtil.delete(folder.toFile(), true);
    }

    private static byte[] bytes(XdrObject value) {
        byte[] bytes = new byte[value.encodedLength()];
        assertThat(value.encode(new UnsafeBuffer(bytes), 0)).isEqualTo(bytes.length);
        return bytes;
    }

    @Property(tries = 500, shrinking = ShrinkingMode.OFF)
    void shouldDecodeWhatWasEncoded(@ForAll long seed, @ForAll @IntRange(max = 9) int index) {
        SplittableRandom random = new SplittableRandom(seed);
        RandomXdr.Type type = RANDOM.types().get(random.nextInt(RANDOM.types().size()));
        XdrObject value = xdr.make(type.java());
        RANDOM.fill(value, type, random);
        ExpandableArrayBuffer buffer = new ExpandableArrayBuffer(1);
        int length = value.encode(buffer, index);
        assertThat(length).isEqualTo(value.encodedLength()).matches(l -> l % 4 == 0);
        // Into an object that has another value.
        XdrObject again = xdr.make(type.java());
        RANDOM.fill(again, type, random);
        assertThat(again.decode(buffer, index, buffer.capacity())).isEqualTo(length);
        assertThat(RANDOM.text(again, type)).isEqualTo(RANDOM.text(value, type));
        assertThat(again).isEqualTo(value).hasSameHashCodeAs(value);
        for (int cut = 0; cut < length; cut += 1 + length / 8) {
            int limit = index + cut;
            assertThat(
                            org.assertj.core.api.Assertions.catchThrowable(
                                    () -> again.decode(buffer, index, limit)))
                    .isInstanceOf(XdrException.class);
        }
    }

    /** What is decoded is encoded to the same bytes, anything else is refused by name. */
    @Property(tries = 1)
    void shouldTakeHostileBytes() {
        SplittableRandom random = new SplittableRandom(5);
        List<byte[]> corpus = new ArrayList<>();
        List<RandomXdr.Type> types = RANDOM.types();
        for (int i = 0; i < 3 * types.size(); i++) {
            XdrObject value = xdr.make(types.get(i % types.size()).java());
            RANDOM.fill(value, types.get(i % types.size()), random);
            corpus.add(bytes(value));
        }
        int[] round = new int[1];
        List<XdrObject> reused = types.stream().map(type -> xdr.make(type.java())).toList();
        new Fuzz("xdr decoders", corpus, 4 << 20)
                .run(
                        input -> {
                            XdrObject value = reused.get(round[0]++ % reused.size());
                            try {
                                int length = value.decode(new UnsafeBuffer(input), 0, input.length);
                                assertThat(bytes(value))
                                        .isEqualTo(java.util.Arrays.copyOf(input, length));
                            } catch (XdrException e) {
                                // Whatever is left of it can be encoded.
                                assertThat(bytes(value)).isNotNull();
                            }
                        });
    }
}
