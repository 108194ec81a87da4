package dev.verbena.savime.wire;

import static java.nio.ByteOrder.LITTLE_ENDIAN;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.savime.store.MetaFile;
import dev.verbena.staging.metadata.PieceMetadata;
import java.util.Random;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class WireTest {
    private final UnsafeBuffer buffer = new UnsafeBuffer(new byte[2048]);

    @Test
    @Tag("savime-57")
    void shouldEncodeTheStructuresOfThePrototype() {
        PrototypeCodec.Request request =
                new PrototypeCodec.Request(PrototypeCodec.CREATE_DATASET, 96, "vel_t0", "double");
        assertThat(PrototypeCodec.encodeRequest(buffer, 0, request)).isEqualTo(92);
        assertThat(PrototypeCodec.decodeRequest(buffer, 0, 92)).isEqualTo(request);
        assertThat(buffer.getInt(0)).isZero();
        assertThat(buffer.getLong(4)).isEqualTo(96);
        assertThat(buffer.getStringWithoutLengthAscii(12, 6)).isEqualTo("vel_t0");
        assertThat(buffer.getStringWithoutLengthAscii(76, 6)).isEqualTo("double");
        assertThat(PrototypeCodec.encodeBlock(buffer, 0, 1 << 28)).isEqualTo(8);
        assertThat(PrototypeCodec.decodeBlock(buffer, 0, 8)).isEqualTo(1 << 28);
        assertThat(PrototypeCodec.encodeRegion(buffer, 0, 0x1234_5678_9ABCL, -2)).isEqualTo(12);
        assertThat(PrototypeCodec.regionAddress(buffer, 0, 12)).isEqualTo(0x1234_5678_9ABCL);
        assertThat(PrototypeCodec.regionKey(buffer, 0, 12)).isEqualTo(-2);
        assertThat(PrototypeCodec.encodeSync(buffer, 0)).isEqualTo(1);
        assertThat(PrototypeCodec.encodeResponse(buffer, 0, true)).isEqualTo(4);
        assertThat(PrototypeCodec.decodeResponse(buffer, 0, 4)).isTrue();
        assertThatThrownBy(() -> PrototypeCodec.decodeRequest(buffer, 0, 91))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(
                        () ->
                                PrototypeCodec.encodeRequest(
                                        buffer,
                                        0,
                                        new PrototypeCodec.Request(0, 8, "a/b", "double")))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void shouldReadBackWhatIsSaidOfAPiece() {
        PieceMetadata piece =
                new PieceMetadata(
                        "velocity",
                        7,
                        3,
                        new long[] {201, 501, 501},
                        new long[] {0, 100, 0},
                        new long[] {201, 50, 501});
        int length = piece.encode(buffer, 5);
        assertThat(PieceMetadata.decode(buffer, 5, length)).isEqualTo(piece);
        assertThat(length).isEqualTo(16 + 72 + 8);
        assertThatThrownBy(
                        () ->
                                new PieceMetadata(
                                        "v", 0, 0, new long[] {5}, new long[] {3}, new long[] {3}))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("dimension 0");
        MetaFile meta =
                new MetaFile(
                        255,
                        "d",
                        "double",
                        96,
                        8,
                        -1,
                        DatasetState.RECEIVED,
                        true,
                        -5,
                        1,
                        2,
                        piece);
        assertThat(MetaFile.parse(meta.encode())).isEqualTo(meta);
        assertThatThrownBy(() -> MetaFile.parse(meta.encode().replace("96", "97")))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void shouldAnswerAnyBytesWithAnException() {
        Random random = new Random(57);
        byte[] bytes = new byte[512];
        UnsafeBuffer any = new UnsafeBuffer(bytes);
        StgFlyweight message = new StgFlyweight();
        for (int i = 0; i < 200_000; i++) {
            random.nextBytes(bytes);
            int length = random.nextInt(512);
            if (i % 2 == 0) {
                any.putInt(0, StgFlyweight.MAGIC, LITTLE_ENDIAN);
                any.putByte(4, (byte) StgFlyweight.VERSION);
                any.putByte(5, (byte) random.nextInt(256));
                message.wrap(any, 0).length(random.nextInt(1200));
                for (int j = 0; j < 8; j++) {
                    any.putShort(32 + 2 * random.nextInt(20), (short) random.nextInt(300));
                }
                any.putByte(i % 80, (byte) 1);
            }
            try {
                decode(message, any, length, i);
            } catch (IllegalArgumentException | IndexOutOfBoundsException e) {
                // As it should be.
            }
        }
    }

    private static void decode(StgFlyweight message, UnsafeBuffer any, int length, int i) {
        switch (i % 4) {
            case 0 -> {
                MessageCheck.check(any, 0, length);
                message.wrap(any, 0);
                message.name();
                message.elementType();
                message.metadataAt();
                message.eventText();
                message.runText();
                message.givenName();
                message.textDatasetId();
            }
            case 1 -> PieceMetadata.decode(any, 0, length);
            case 2 -> {
                any.putByte(0, (byte) 1);
                any.putByte(1, (byte) (i % 10));
                PieceMetadata.decode(any, 0, 16 + 24 * (i % 10) + (any.getShort(2) & 0xFFFF));
            }
            default -> PrototypeCodec.decodeRequest(any, 0, length);
        }
    }

    @Test
    void shouldQueueMessagesInOrderAndAllocateNothingWhenWarm() {
        MessageQueue queue = new MessageQueue(64);
        for (int i = 0; i < 64; i++) {
            queue.add(StgType.HEARTBEAT).request(i);
        }
        assertThat(queue.isFull()).isTrue();
        assertThatThrownBy(() -> queue.add(StgType.HEARTBEAT))
                .isInstanceOf(IllegalStateException.class);
        StgFlyweight message = new StgFlyweight();
        for (int i = 0; i < 64; i++) {
            assertThat(message.wrap(queue.buffer(), queue.at()).request()).isEqualTo(i);
            queue.remove();
        }
        var bean =
                (com.sun.management.ThreadMXBean)
                        java.lang.management.ManagementFactory.getThreadMXBean();
        long allocated = 0;
        for (int round = 0; round < 3; round++) {
            long before = bean.getCurrentThreadAllocatedBytes();
            for (int i = 0; i < 100_000; i++) {
                queue.add(StgType.BLOCK_GRANT).block(1, 2, 3, i);
                message.wrap(queue.buffer(), queue.at());
                queue.remove();
            }
            allocated = bean.getCurrentThreadAllocatedBytes() - before;
        }
        assertThat(allocated).isZero();
    }
}
