package dev.verbena.dart;

import static java.nio.ByteOrder.BIG_ENDIAN;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.dart.wire.FrameFlyweight;
import dev.verbena.dart.wire.MetadataFlyweight;
import dev.verbena.dart.wire.PieceFlyweight;
import dev.verbena.dart.wire.SecretProof;
import dev.verbena.staging.Checksum;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Every bound of frames of a stream and of metadata: the last value that is taken on each side, and
 * the first that is MALFORMED.
 */
@Timeout(60)
class FrameBoundsTest extends DecodedFields {
    private final FrameFlyweight frame = new FrameFlyweight();

    // ---- frames

    private void frame(int type, int payloadLength) {
        order = BIG_ENDIAN;
        frame.begin(buffer, AT, type).sequence(5).message(6, 7, 8, 9);
        put(40, 4, payloadLength);
        decoder = () -> frame.wrap(buffer, AT).check();
    }

    @Test
    @Tag("dart-D33")
    void shouldBoundFrames() {
        frame(FrameFlyweight.DATA, 100);
        bounds(0, 4, FrameFlyweight.MAGIC, FrameFlyweight.MAGIC);
        bounds(4, 1, FrameFlyweight.VERSION, FrameFlyweight.VERSION);
        bounds(40, 4, 0, FrameFlyweight.PAYLOAD_MAX);
        bounds(6, 2, 0, 127);
        bounds(8, 8, 1, NUMBER_MAX);
        bounds(24, 8, 1, MAX);
        bounds(32, 8, 0, NUMBER_MAX);
        refused(5, 1, 0);
        refused(5, 1, 14);
        frame(FrameFlyweight.REVERSE, PieceFlyweight.HEADER_LENGTH);
        bounds(40, 4, PieceFlyweight.HEADER_LENGTH, PieceFlyweight.LENGTH_MAX);
        frame(FrameFlyweight.ERROR, 4);
        bounds(40, 4, 4, FrameFlyweight.CONTROL_PAYLOAD_MAX);
        bounds(8, 8, 0, NUMBER_MAX);
    }

    @Test
    @Tag("dart-D33")
    void shouldTakeFramesOfOneLengthOnly() {
        int[][] lengths = {
            {FrameFlyweight.HELLO, FrameFlyweight.HELLO_LENGTH},
            {FrameFlyweight.HELLO_ACK, FrameFlyweight.HELLO_ACK_LENGTH},
            {FrameFlyweight.ACK, FrameFlyweight.ACK_LENGTH},
            {FrameFlyweight.NACK, FrameFlyweight.NACK_LENGTH},
            {FrameFlyweight.FIN, FrameFlyweight.FIN_LENGTH},
            {FrameFlyweight.CHALLENGE, FrameFlyweight.CHALLENGE_LENGTH},
            {FrameFlyweight.PROOF, SecretProof.PROOF_LENGTH},
            {FrameFlyweight.HEARTBEAT, 0},
            {FrameFlyweight.FIN_ACK, 0},
            {FrameFlyweight.REVERSE_STATE, FrameFlyweight.REVERSE_STATE_LENGTH}
        };
        for (int[] one : lengths) {
            frame(one[0], one[1]);
            bounds(40, 4, one[1], one[1]);
        }
    }

    @Test
    void shouldSeeWhetherAFrameIsIntact() {
        UnsafeBuffer payload = new UnsafeBuffer(new byte[] {9, 1, 2, 3});
        for (int length : new int[] {3, 0}) {
            int sum = new Checksum().of(payload, 1, length);
            frame.begin(buffer, AT, FrameFlyweight.DATA).sequence(5).end(payload, 1, length);
            int crc = buffer.getInt(AT + 44, BIG_ENDIAN);
            frame.begin(buffer, AT, FrameFlyweight.DATA).sequence(5).end(sum, length);
            assertThat(buffer.getInt(AT + 44, BIG_ENDIAN)).isEqualTo(crc);
            assertThat(frame.isIntact(payload, 1)).isTrue();
            assertThat(frame.isIntact(sum)).isTrue();
            assertThat(frame.payloadChecksum()).isEqualTo(sum);
            assertThat(length > 0 && frame.isIntact(payload, 0)).isFalse();
            assertThat(length > 0 && frame.isIntact(sum + 1)).isFalse();
            buffer.putByte(AT + 9, (byte) 1);
            assertThat(frame.isIntact(payload, 1)).isFalse();
            assertThat(frame.isIntact(sum)).isFalse();
        }
    }

    @Test
    void shouldReadTheFieldsOfFrames() {
        frame.begin(buffer, AT, FrameFlyweight.DATA)
                .flags(0xABCD)
                .sequence(1L << 40)
                .message(6, 1L << 41, 8, 1L << 42);
        assertThat(frame.type()).isEqualTo(FrameFlyweight.DATA);
        assertThat(frame.flags()).isEqualTo(0xABCD);
        assertThat(frame.sequence()).isEqualTo(1L << 40);
        assertThat(frame.clientId()).isEqualTo(6);
        assertThat(frame.messageSequence()).isEqualTo(1L << 41);
        assertThat(frame.tag()).isEqualTo(8);
        assertThat(frame.position()).isEqualTo(1L << 42);
        assertThat(frame.payloadLength()).isZero();
        int end = buffer.capacity() - FrameFlyweight.LENGTH;
        assertThatThrownBy(() -> frame.begin(buffer, end + 1, FrameFlyweight.DATA))
                .isInstanceOf(IndexOutOfBoundsException.class);
        assertThat(frame.begin(buffer, end, FrameFlyweight.DATA).wrap(buffer, end)).isSameAs(frame);
        assertThatThrownBy(() -> frame.wrap(buffer, end + 1))
                .isInstanceOf(IndexOutOfBoundsException.class);
    }

    // ---- metadata

    private static DartMetadata metadata() {
        return new DartMetadata()
                .name("name")
                .variable("var")
                .elementType(ElementType.FLOAT64)
                .shape(2, 3)
                .step(1L << 40)
                .rank(6)
                .origin(9, 6, 5)
                .stepMessageCount(4)
                .endOfStep(true)
                .property("key", "value")
                .payload(77, true, 88);
    }

    private int metadata(DartMetadata from) {
        buffer.setMemory(0, 2048, (byte) -1);
        int length = from.encode(buffer, AT);
        decoder = () -> new DartMetadata().decode(buffer, AT, length);
        return length;
    }

    @Test
    void shouldBoundMetadata() {
        int length = metadata(metadata());
        bounds(0, 4, 0x4154454D, 0x4154454D);
        bounds(4, 1, 1, 1);
        bounds(5, 1, 0, ElementType.values().length - 1);
        bounds(8, 2, length, length);
        bounds(10, 2, 4, 7);
        refused(10, 2, 8);
        refused(10, 2, 0x8004);
        bounds(16, 8, 0, NUMBER_MAX);
        bounds(40, 8, 0, MAX);
        bounds(48, 8, 0, MAX);
        bounds(56, 4, 0, Integer.MAX_VALUE);
        bounds(60, 4, 0, Integer.MAX_VALUE);
        bounds(7, 1, 1, 1);
        refused(7, 1, 33);
        refused(7, 1, 255);
        refused(6, 1, 9);
        refused(6, 1, 255);
        // The first text: as long as it is, for what follows must be texts too.
        refused(64, 2, 256);
        refused(64, 2, length);
        refused(64, 2, -1);
    }

    @Test
    void shouldBoundTheLengthOfMetadata() {
        DartMetadata smallest = new DartMetadata();
        int least = metadata(smallest);
        assertThat(least).isEqualTo(48);
        for (int available = 0; available < least; available++) {
            int bytes = available;
            decoder = () -> new DartMetadata().decode(buffer, AT, bytes);
            refused(4, 1, 1);
        }
        decoder = () -> new DartMetadata().decode(buffer, AT, 2048);
        for (int wrong : new int[] {0, 39, 40, 44, 47, 49, 56, 1032, 65_535}) {
            refused(8, 2, wrong);
        }
        DartMetadata longest = new DartMetadata();
        for (int i = 0; i < 3; i++) {
            longest.property("k" + i, "v".repeat(255));
        }
        longest.name("n".repeat(192));
        int length = metadata(longest);
        assertThat(length).isEqualTo(longest.encodedLength()).isEqualTo(1024);
        decoder.decode();
    }

    @Test
    void shouldTakeUpToEightExtentsAndThirtyTwoProperties() {
        DartMetadata many = new DartMetadata().shape(1, 2, 3, 4, 5, 6, 7, 8);
        for (int i = 0; i < DartMetadata.PROPERTIES_MAX; i++) {
            many.property("k" + i, "v" + i);
        }
        int length = metadata(many);
        DartMetadata read = new DartMetadata();
        assertThat(read.decode(buffer, AT, length)).isEqualTo(length);
        assertThat(read.shape()).containsExactly(1, 2, 3, 4, 5, 6, 7, 8);
        assertThat(read.properties()).hasSize(32).containsEntry("k31", "v31");
        assertThat(read.rankCount()).isZero();
        assertThat(read.stepMessageCount()).isZero();
    }

    @Test
    void shouldReadTheFieldsOfMetadata() {
        int length = metadata(metadata());
        DartMetadata read = new DartMetadata();
        assertThat(read.decode(buffer, AT, 2000)).isEqualTo(length);
        assertThat(read.name()).isEqualTo("name");
        assertThat(read.variable()).isEqualTo("var");
        assertThat(read.elementType()).isEqualTo(ElementType.FLOAT64);
        assertThat(read.shape()).containsExactly(2, 3);
        assertThat(read.step()).isEqualTo(1L << 40);
        assertThat(read.rank()).isEqualTo(6);
        assertThat(read.applicationId()).isEqualTo(9);
        assertThat(read.rankCount()).isEqualTo(5);
        assertThat(read.stepMessageCount()).isEqualTo(4);
        assertThat(read.isEndOfStep()).isTrue();
        assertThat(read.properties()).containsExactly(java.util.Map.entry("key", "value"));
        assertThat(read.payloadLength()).isEqualTo(77);
        assertThat(read.checksum()).isEqualTo(88);
        assertThat(MetadataFlyweight.payloadLength(buffer, AT)).isEqualTo(77);
        for (int at = AT + length; at < 2000; at++) {
            assertThat(buffer.getByte(at)).isEqualTo((byte) -1);
        }
        // Only one of the two counts.
        metadata(new DartMetadata().stepMessageCount(4));
        read.decode(buffer, AT, 2000);
        assertThat(read.stepMessageCount()).isEqualTo(4);
        assertThat(read.rankCount()).isZero();
        assertThat(read.isEndOfStep()).isFalse();
    }
}
