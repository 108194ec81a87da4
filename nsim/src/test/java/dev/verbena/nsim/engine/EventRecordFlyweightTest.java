package dev.verbena.nsim.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteOrder;
import java.util.Arrays;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;

class EventRecordFlyweightTest {
    static {
        dev.verbena.softnic.NativeAccess.open();
    }

    private final UnsafeBuffer buffer = new UnsafeBuffer(new byte[48]);
    private final EventRecordFlyweight record = new EventRecordFlyweight();

    private void encode(long time, int target, int source, int kind) {
        EventRecordFlyweight.encode(buffer, 8, time, target, source, kind, -9);
    }

    private boolean isSound(long time, int target, int source, int kind) {
        encode(time, target, source, kind);
        return record.wrap(buffer, 8).isSound();
    }

    @Test
    void shouldWriteTheLayoutOfItsTable() {
        buffer.setMemory(0, 48, (byte) 0x5A);
        encode(1L << 40, 2, 3, 4);
        ByteOrder order = ByteOrder.LITTLE_ENDIAN;
        assertThat(buffer.getLong(8, order)).isEqualTo(1L << 40);
        assertThat(buffer.getLong(16, order)).isEqualTo(-9);
        assertThat(buffer.getInt(24, order)).isEqualTo(2);
        assertThat(buffer.getInt(28, order)).isEqualTo(3);
        assertThat(buffer.getInt(32, order)).isEqualTo(4);
        assertThat(buffer.getInt(36, order)).isZero();
        assertThat(buffer.getLong(0)).isEqualTo(buffer.getLong(40));
        assertThat(record.wrap(buffer, 8)).isSameAs(record);
        assertThat(record.timePs()).isEqualTo(1L << 40);
        assertThat(record.argument()).isEqualTo(-9);
        assertThat(record.target()).isEqualTo(2);
        assertThat(record.source()).isEqualTo(3);
        assertThat(record.kind()).isEqualTo(4);
    }

    @Test
    void shouldKnowWhatCanBeARecord() {
        assertThat(isSound(0, 0, 0, 0)).isTrue();
        assertThat(isSound(0, 0, 0, Engine.KINDS - 1)).isTrue();
        assertThat(isSound(0, 0, 0, EventRecordFlyweight.RUN)).isTrue();
        assertThat(isSound(0, 0, 0, Engine.KINDS)).isFalse();
        assertThat(isSound(0, 0, 0, EventRecordFlyweight.RUN - 1)).isFalse();
        assertThat(isSound(0, 0, 0, -1)).isFalse();
        assertThat(isSound(-1, 0, 0, 0)).isFalse();
        assertThat(isSound(0, -1, 0, 0)).isFalse();
        assertThat(isSound(0, 0, -1, 0)).isFalse();
        encode(0, 0, 0, 0);
        buffer.putInt(36, 1);
        assertThat(record.wrap(buffer, 8).isSound()).isFalse();
    }

    @Test
    void shouldRefuseABufferThatEndsWithinTheRecord() {
        int tooFar = buffer.capacity() - EventRecordFlyweight.LENGTH + 1;
        byte[] before = buffer.byteArray().clone();
        assertThatThrownBy(() -> EventRecordFlyweight.encode(buffer, tooFar, 0, 0, 0, 0, 0))
                .isInstanceOf(IndexOutOfBoundsException.class);
        assertThat(Arrays.equals(before, buffer.byteArray())).isTrue();
        assertThatThrownBy(() -> record.wrap(buffer, tooFar))
                .isInstanceOf(IndexOutOfBoundsException.class);
        record.wrap(buffer, tooFar - 1);
    }
}
