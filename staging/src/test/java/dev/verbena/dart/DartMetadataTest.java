package dev.verbena.dart;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.staging.Names;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import net.jqwik.api.constraints.StringLength;
import org.agrona.concurrent.UnsafeBuffer;

class DartMetadataTest {
    static {
        dev.verbena.softnic.NativeAccess.open();
    }

    private final UnsafeBuffer buffer = new UnsafeBuffer(new byte[2048]);

    @Property(tries = 1000)
    void shouldRoundTrip(
            @ForAll @StringLength(max = 60) String name,
            @ForAll @StringLength(max = 40) String variable,
            @ForAll @Size(max = 8) long[] shape,
            @ForAll long step,
            @ForAll int rank) {
        for (int i = 0; i < shape.length; i++) {
            shape[i] &= Long.MAX_VALUE;
        }
        String cleanName =
                new String(
                        name.getBytes(java.nio.charset.StandardCharsets.UTF_8),
                        java.nio.charset.StandardCharsets.UTF_8);
        DartMetadata metadata =
                new DartMetadata()
                        .name(cleanName)
                        .elementType(ElementType.INT64)
                        .shape(shape)
                        .step(step)
                        .rank(rank)
                        .property("k", "v")
                        .endOfStep(rank % 2 == 0)
                        .stepMessageCount(Math.abs(rank % 3))
                        .origin(9, 4, Math.abs(rank % 5))
                        .payload(77, true, 88);
        int length = metadata.encode(buffer, 8);
        assertThat(length).isEqualTo(metadata.encodedLength()).isLessThanOrEqualTo(1024);
        DartMetadata read = new DartMetadata();
        assertThat(read.decode(buffer, 8, length)).isEqualTo(length);
        assertThat(read.name()).isEqualTo(cleanName);
        assertThat(read.shape()).isEqualTo(shape);
        assertThat(read.step()).isEqualTo(step);
        assertThat(read.rank()).isEqualTo(rank);
        assertThat(read.applicationId()).isEqualTo(9);
        assertThat(read.rankCount()).isEqualTo(Math.abs(rank % 5));
        assertThat(read.stepMessageCount()).isEqualTo(Math.abs(rank % 3));
        assertThat(read.isEndOfStep()).isEqualTo(rank % 2 == 0);
        assertThat(read.properties()).containsOnlyKeys("k").containsValue("v");
        assertThat(read.payloadLength()).isEqualTo(77);
        assertThat(read.checksum()).isEqualTo(88);
        String safe = Names.safe(variable);
        assertThat(safe).matches("([A-Za-z0-9_%-][A-Za-z0-9._%-]*)?");
        assertThat(safe).doesNotContain("/").doesNotStartWith(".");
    }

    @Example
    void shouldMakeDifferentNamesDifferentFiles() {
        assertThat(Names.safe("a/b")).isNotEqualTo(Names.safe("a_b"));
        assertThat(Names.safe("x".repeat(250)))
                .hasSizeLessThan(256)
                .isNotEqualTo(Names.safe("x".repeat(251)));
    }

    @Example
    void shouldRefuseWhatDoesNotFit() {
        DartMetadata metadata = new DartMetadata();
        assertThatThrownBy(() -> metadata.name("x".repeat(256))).hasMessageContaining("255");
        assertThatThrownBy(() -> metadata.shape(new long[9])).hasMessageContaining("8");
        assertThatThrownBy(() -> metadata.shape(-1)).hasMessageContaining("-1");
        for (int i = 0; i < 5; i++) {
            metadata.property("key" + i, "v".repeat(250));
        }
        assertThatThrownBy(metadata::encodedLength).hasMessageContaining("1024");
    }

    /** Whatever the bytes: metadata in range, or MALFORMED; nothing else. */
    @Property(tries = 10_000)
    void shouldNeverFailOtherwiseOnHostileBytes(
            @ForAll @Size(max = 200) byte[] noise,
            @ForAll @IntRange(max = 1100) int available,
            @ForAll @IntRange(max = 80) int at) {
        new DartMetadata()
                .name("name")
                .variable("v")
                .property("a", "b")
                .shape(1, 2)
                .encode(buffer, 0);
        for (int i = 0; i < noise.length && at + i < 1024; i++) {
            if ((noise[i] & 3) == 0) {
                buffer.putByte(at + i, noise[i]);
            }
        }
        try {
            int length = new DartMetadata().decode(buffer, 0, available);
            assertThat(length).isLessThanOrEqualTo(available);
        } catch (DartException e) {
            assertThat(e.code()).isEqualTo(DartException.Code.MALFORMED);
        }
    }
}
