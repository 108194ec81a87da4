package dev.verbena.dart.wire;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.dart.DartWorld;
import dev.verbena.staging.Checksum;
import java.nio.ByteBuffer;
import java.util.SplittableRandom;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;

class FrameSumsTest {
    static {
        dev.verbena.softnic.NativeAccess.open();
    }

    private static final int FRAME = 10_000;
    private static final int LENGTH_MAX = 64 * 1024;

    @Test
    void shouldSumUpEachFrameWhateverThePieces() {
        SplittableRandom random = new SplittableRandom(3);
        byte[] bytes = new byte[LENGTH_MAX];
        random.nextBytes(bytes);
        UnsafeBuffer part = new UnsafeBuffer(ByteBuffer.allocateDirect(LENGTH_MAX));
        FrameSums sums = new FrameSums(LENGTH_MAX, FRAME, false);
        Checksum expected = new Checksum();
        for (int i = 0; i < 500; i++) {
            int length = 1 + random.nextInt(LENGTH_MAX);
            sums.reset();
            assertThat(sums.isWhole()).isFalse();
            for (int done = 0; done < length; ) {
                int n = Math.min(length - done, 1 + random.nextInt(2 * FRAME));
                // What has not come yet is something else.
                part.setMemory(0, LENGTH_MAX, (byte) i);
                part.putBytes(0, bytes, 0, done + n);
                done += n;
                sums.goOn(part, done, length);
                assertThat(sums.isWhole()).isEqualTo(done == length);
            }
            for (int frame = 0; frame * FRAME < length; frame++) {
                int end = Math.min(length, (frame + 1) * FRAME);
                assertThat(sums.of(frame))
                        .as("run %d, frame %d of %d bytes", i, frame, length)
                        .isEqualTo(expected.of(part, frame * FRAME, end - frame * FRAME));
            }
        }
    }

    @Test
    void shouldTakeSumsOfPiecesThatOthersSummedUp() {
        SplittableRandom random = new SplittableRandom(4);
        UnsafeBuffer part = DartWorld.bytes(LENGTH_MAX, 4);
        FrameSums sums = new FrameSums(LENGTH_MAX, FRAME, false);
        Checksum expected = new Checksum();
        for (int i = 0; i < 500; i++) {
            int length = 1 + random.nextInt(LENGTH_MAX);
            sums.reset();
            // What comes first, the metadata, nobody has summed up.
            int done = Math.min(length, random.nextInt(200));
            while (done < length) {
                int piece = 1 + random.nextInt(FRAME);
                int n = Math.min(length - done, Math.min(piece, sums.leftInFrame(done)));
                int sum = expected.of(part, done, n);
                done += n;
                sums.goOn(part, done, length, n, sum);
                assertThat(sums.isWhole()).isEqualTo(done == length);
            }
            for (int frame = 0; sums.isWhole() && frame * FRAME < length; frame++) {
                int end = Math.min(length, (frame + 1) * FRAME);
                assertThat(sums.of(frame))
                        .as("run %d, frame %d of %d bytes", i, frame, length)
                        .isEqualTo(expected.of(part, frame * FRAME, end - frame * FRAME));
            }
        }
    }

    @Test
    void shouldSumUpNothingWhereBytesMeanNothing() {
        UnsafeBuffer part = DartWorld.bytes(LENGTH_MAX, 5);
        FrameSums sums = new FrameSums(LENGTH_MAX, FRAME, true);
        sums.goOn(part, LENGTH_MAX, LENGTH_MAX);
        assertThat(sums.isWhole()).isTrue();
        sums.reset();
        // A part that is not long is not looked at either.
        assertThat(sums.isWhole()).isTrue();
        for (int frame = 0; frame * FRAME < LENGTH_MAX; frame++) {
            assertThat(sums.of(frame)).isZero();
        }
    }

    @Test
    void shouldEncodeTheSameHeaderFromASumAsFromTheBytes() {
        UnsafeBuffer payload = DartWorld.bytes(70_000, 7);
        UnsafeBuffer one = new UnsafeBuffer(new byte[FrameFlyweight.LENGTH]);
        UnsafeBuffer other = new UnsafeBuffer(new byte[FrameFlyweight.LENGTH]);
        FrameFlyweight frame = new FrameFlyweight();
        for (int length : new int[] {0, 1, 47, 70_000}) {
            frame.begin(one, 0, FrameFlyweight.DATA).sequence(9).end(payload, 0, length);
            int sum = new Checksum().of(payload, 0, length);
            frame.begin(other, 0, FrameFlyweight.DATA).sequence(9).end(sum, length);
            assertThat(other).as("length %d", length).isEqualTo(one);
        }
    }
}
