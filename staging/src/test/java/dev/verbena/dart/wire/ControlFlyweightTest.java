package dev.verbena.dart.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.dart.DartException;
import dev.verbena.memory.RemoteDescriptor;
import dev.verbena.staging.Checksum;
import java.net.URI;
import java.util.HexFormat;
import java.util.UUID;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.agrona.concurrent.UnsafeBuffer;

class ControlFlyweightTest {
    private static final UUID JOB = new UUID(0x0102030405060708L, 0x1112131415161718L);
    private static final String DONE_BYTES =
            "54524144050001000807060504030201181716151413121107000000040000000c00000000000000"
                    + "01000000010000000000000000000000000000000000000000000000000000000000000000"
                    + "00000000000000000000000000000000000000000000000000000000000000000000000000"
                    + "0000000000000000000026464f41";

    static {
        dev.verbena.softnic.NativeAccess.open();
    }

    private final UnsafeBuffer buffer = new UnsafeBuffer(new byte[2048]);
    private final ControlFlyweight out = new ControlFlyweight();
    private final ControlFlyweight in = new ControlFlyweight();

    @Example
    void shouldEncodeGoldenBytes() {
        // Computed by an independent program.
        out.begin(buffer, 0, ControlFlyweight.DONE, JOB).done(7, 12, 1, 4, 1).end();
        byte[] bytes = new byte[ControlFlyweight.LENGTH];
        buffer.getBytes(0, bytes);
        assertThat(HexFormat.of().formatHex(bytes)).isEqualTo(DONE_BYTES);
    }

    @Example
    void shouldRoundTripEveryType() {
        URI uri = URI.create("shm://job/name?incarnation=12");
        out.begin(buffer, 3, ControlFlyweight.REGISTER, JOB)
                .registration()
                .write(1, 4, 17, 2, uri)
                .end();
        in.wrap(buffer, 3, ControlFlyweight.LENGTH);
        assertThat(in.registration().uri()).isEqualTo(uri);
        assertThat(in.registration().rank()).isEqualTo(17);
        assertThat(in.registration().applicationId()).isEqualTo(2);
        assertThat(in.registration().creditsWanted()).isEqualTo(4);
        assertThat(in.isOfJob(JOB)).isTrue();
        in.registration().asForward(buffer, 200, 99, 0).end();
        in.wrap(buffer, 200, ControlFlyweight.LENGTH);
        assertThat(in.type()).isEqualTo(ControlFlyweight.FORWARD);
        assertThat(in.registration().assignedId()).isEqualTo(99);

        RemoteDescriptor descriptor = new RemoteDescriptor().set(1, 1, 2, 3, 1000, 5, 6);
        out.begin(buffer, 0, ControlFlyweight.HEADER, JOB)
                .header(7, 12, 3, 1000, ControlFlyweight.FLAG_CHECKSUM)
                .headerData(77, 48, 1)
                .descriptor(descriptor)
                .end();
        in.wrap(buffer, 0, ControlFlyweight.LENGTH + 48);
        RemoteDescriptor read = new RemoteDescriptor();
        in.descriptorInto(read);
        assertThat(read.length()).isEqualTo(1000);
        assertThat(in.skipped()).isEqualTo(1);
        assertThat(in.dataCrc()).isEqualTo(77);
        assertThat(in.length()).isEqualTo(1000);
    }

    @Example
    void shouldRefuseDescriptorShorterThanPayload() {
        RemoteDescriptor descriptor = new RemoteDescriptor().set(1, 1, 2, 3, 999, 5, 6);
        out.begin(buffer, 0, ControlFlyweight.HEADER, JOB)
                .header(7, 12, 3, 1000, 0)
                .headerData(0, 48, 0)
                .descriptor(descriptor)
                .end();
        in.wrap(buffer, 0, ControlFlyweight.LENGTH + 48);
        assertThatThrownBy(() -> in.descriptorInto(new RemoteDescriptor()))
                .hasMessageContaining("payload length");
    }

    @Example
    void shouldRefuseAddressThatDoesNotFit() {
        URI uri = URI.create("shm://" + "j".repeat(80) + "/n");
        assertThatThrownBy(
                        () ->
                                out.begin(buffer, 0, ControlFlyweight.REGISTER, JOB)
                                        .registration()
                                        .write(1, 1, 0, 0, uri))
                .isInstanceOf(DartException.class)
                .hasMessageContaining("88 characters")
                .hasMessageContaining("shorter name");
    }

    @Property(tries = 2000)
    void shouldRefuseEveryFlippedBit(@ForAll @IntRange(max = 128 * 8 - 1) int bit) {
        out.begin(buffer, 0, ControlFlyweight.DONE, JOB).done(7, 12, 1, 0, 1).end();
        buffer.putByte(bit / 8, (byte) (buffer.getByte(bit / 8) ^ 1 << bit % 8));
        assertThatThrownBy(() -> in.wrap(buffer, 0, ControlFlyweight.LENGTH))
                .isInstanceOfSatisfying(
                        DartException.class,
                        e -> assertThat(e.code()).isEqualTo(DartException.Code.MALFORMED));
    }

    /** Whatever the bytes: a record that is in range, or MALFORMED; nothing else. */
    @Property(tries = 5000)
    void shouldNeverFailOtherwiseOnHostileBytes(
            @ForAll @Size(124 - 8) byte[] body,
            @ForAll @IntRange(min = 0, max = 10) int type,
            @ForAll @IntRange(min = 0, max = 300) int available) {
        UnsafeBuffer hostile = new UnsafeBuffer(new byte[Math.max(available, 128)]);
        hostile.putInt(0, ControlFlyweight.MAGIC, java.nio.ByteOrder.LITTLE_ENDIAN);
        hostile.putShort(4, (short) type, java.nio.ByteOrder.LITTLE_ENDIAN);
        hostile.putShort(6, (short) 1, java.nio.ByteOrder.LITTLE_ENDIAN);
        hostile.putBytes(8, body);
        hostile.putInt(124, new Checksum().of(hostile, 0, 124), java.nio.ByteOrder.LITTLE_ENDIAN);
        try {
            in.wrap(hostile, 0, available);
            if (in.type() <= ControlFlyweight.FORWARD) {
                assertThat(in.registration().uri()).isNotNull();
            } else if (in.type() == ControlFlyweight.HEADER) {
                assertThat(in.metadataLength()).isEqualTo(available - 128);
                in.descriptorInto(new RemoteDescriptor());
            }
        } catch (DartException e) {
            assertThat(e.code()).isEqualTo(DartException.Code.MALFORMED);
        }
    }
}
