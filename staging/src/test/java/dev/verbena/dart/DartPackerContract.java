package dev.verbena.dart;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * A restart file sent item by item and as one packed message, over a transport: one small subclass
 * for each provider names the scheme.
 */
@Timeout(120)
public abstract class DartPackerContract {
    private static final int FILE_LENGTH = 8_500_000;
    private static final int LARGEST = 7_500_000;

    static {
        dev.verbena.softnic.NativeAccess.open();
    }

    private final List<byte[]> items = new ArrayList<>();
    private final Packer packer = new Packer(FILE_LENGTH);
    private final SplittableRandom random = new SplittableRandom(49);

    /** For subclasses in other modules. */
    protected DartPackerContract() {}

    /** URI scheme of the provider. */
    protected abstract String scheme();

    private ByteBuffer item(int length) {
        byte[] bytes = new byte[length];
        items.add(bytes);
        return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    }

    private float[] floats(int count) {
        float[] values = new float[count];
        for (int i = 0; i < count; i++) {
            values[i] = (float) random.nextDouble();
        }
        return values;
    }

    private void scalars() {
        for (int i = 0; i < 9; i++) {
            int number = random.nextInt();
            item(4).putInt(number);
            packer.putInt(number);
            float real = (float) random.nextDouble();
            item(4).putFloat(real);
            packer.putFloat(real);
        }
        item(8).putDouble(Math.PI);
        packer.putDouble(Math.PI);
        item(8).putLong(-5);
        packer.putLong(-5);
    }

    private void arrays() {
        float[] one = floats(25_000);
        item(100_000).asFloatBuffer().put(one);
        packer.putArray(one);
        double[] doubles = {1, -2.5, Double.NaN};
        item(24).asDoubleBuffer().put(doubles);
        packer.putArray(doubles);
        int[] ints = {1, Integer.MIN_VALUE, 3};
        item(12).asIntBuffer().put(ints);
        packer.putArray(ints);
        long[] longs = {1, Long.MIN_VALUE};
        item(16).asLongBuffer().put(longs);
        packer.putArray(longs);
        packer.putBytes(new UnsafeBuffer(new byte[] {0, 1, 2, 3}), 1, 3);
        item(3).put(new byte[] {1, 2, 3});
    }

    private void matrices() {
        float[][] rows = new float[1875][];
        ByteBuffer largest = item(LARGEST);
        for (int i = 0; i < rows.length; i++) {
            rows[i] = floats(1000);
            largest.asFloatBuffer().put(rows[i]);
            largest.position(largest.position() + 4000);
        }
        packer.putArray(rows);
        double[][] ragged = {{1, 2}, {}, {3}};
        item(24).asDoubleBuffer().put(new double[] {1, 2, 3});
        packer.putArray(ragged);
        item(4).putInt(9);
        packer.putArray(new int[][] {{9}});
        item(8).putLong(8);
        packer.putArray(new long[][] {{}, {8}});
    }

    @Test
    @Tag("dart-D49")
    void shouldPackWhatUnbufferedSendsCarry() throws Exception {
        scalars();
        arrays();
        matrices();
        int rest = FILE_LENGTH - packer.length();
        float[] last = floats(rest / 4);
        item(rest / 4 * 4).asFloatBuffer().put(last);
        packer.putArray(last);
        byte[] filler = new byte[rest % 4];
        item(filler.length).put(filler);
        packer.putBytes(new UnsafeBuffer(filler), 0, filler.length);
        try (DartWorld world = new DartWorld(scheme()).receive()) {
            world.master(c -> c.bufferSize(4 << 20));
            DartClient client = world.client(0);
            for (int i = 0; i < items.size(); i++) {
                UnsafeBuffer item = new UnsafeBuffer(items.get(i));
                client.sendCopy(item, 0, item.capacity(), null, i);
            }
            assertThat(packer.itemCount()).isEqualTo(items.size());
            packer.commit(client, new DartMetadata().elementType(ElementType.PACKED), -1);
            client.flush(DartWorld.LIMIT_NS);
            world.awaitReceived(items.size() + 1);
            ByteArrayOutputStream unbuffered = new ByteArrayOutputStream();
            for (int i = 0; i < items.size(); i++) {
                unbuffered.writeBytes(world.received.get(i).payload());
            }
            byte[] packed = world.received.get(items.size()).payload();
            assertThat(packed).hasSize(FILE_LENGTH);
            assertThat(java.util.Arrays.mismatch(packed, unbuffered.toByteArray())).isEqualTo(-1);
            assertThat(packer.length()).isZero();
        }
    }

    @Test
    void shouldRefuseWhatExceedsTheLimitAndKeepWhatIsThere() {
        Packer small = new Packer(10);
        small.putDouble(1);
        assertThatThrownBy(() -> small.putInt(1))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("10");
        assertThatThrownBy(() -> small.putArray(new float[][] {{1}}))
                .isInstanceOf(IllegalStateException.class);
        assertThat(small.length()).isEqualTo(8);
        assertThat(small.itemCount()).isEqualTo(1);
        assertThat(small.clear().putArray(new double[] {4}).buffer().getDouble(0)).isEqualTo(4);
    }
}
