package dev.verbena.dart;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The account of what is sent and not acknowledged, against one kept in the plainest way. */
class HeldBuffersTest {
    private static final int FRAME = 100;
    private static final int BUFFER = 350;

    /** What a receiver granted, what it has, and every frame that is on its way or there. */
    private static final class Model {
        final List<Integer> lengths = new ArrayList<>();
        long acknowledgedNext = 1;
        long sentNext = 1;

        /** Bytes sent over this connection, or known to the receiver, that it has not confirmed. */
        long open() {
            long bytes = 0;
            for (long number = acknowledgedNext; number < sentNext; number++) {
                bytes += lengths.get((int) number - 1);
            }
            return bytes;
        }
    }

    @Test
    @Tag("dart-D36")
    void shouldNeverHaveMoreUnacknowledgedThanTheWindowWhateverHappens() {
        long seed = Long.getLong("verbena.seed", 36);
        for (int round = 0; round < 400; round++) {
            play(seed + round);
        }
    }

    private static void play(long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        HeldBuffers held = new HeldBuffers(4, FRAME);
        Model model = new Model();
        ArrayDeque<ServerBuffer> back = new ArrayDeque<>();
        long window = 1 + random.nextInt(1000);
        held.window(window);
        for (int step = 0; step < 400; step++) {
            switch (random.nextInt(7)) {
                case 0, 1 -> add(random, held, model);
                case 2, 3, 4 -> send(held, model, window, seed);
                case 5 -> {
                    // An acknowledgement of something that was sent, perhaps an old one.
                    long next = 1 + random.nextLong(held.sentUpTo() + 1);
                    held.acknowledge(next, back::add);
                    model.acknowledgedNext = Math.max(model.acknowledgedNext, next);
                    model.sentNext = Math.max(model.sentNext, model.acknowledgedNext);
                }
                default -> {
                    // Asked for again, or a new connection with another window: the receiver has
                    // what is before this number.
                    long next =
                            random.nextLong(
                                    held.acknowledgedNext(), Math.max(2, held.sentUpTo() + 2));
                    if (random.nextBoolean()) {
                        window = 1 + random.nextInt(1000);
                        held.window(window);
                        held.acknowledge(next, back::add);
                        model.acknowledgedNext = Math.max(model.acknowledgedNext, next);
                    }
                    held.rewind(next);
                    model.sentNext = next;
                }
            }
            assertThat(held.unacknowledged())
                    .as("seed %d, step %d", seed, step)
                    .isEqualTo(model.open());
        }
        int expected = 1;
        for (ServerBuffer buffer : back) {
            assertThat(buffer.firstFrame).isEqualTo(expected);
            expected += buffer.frameCount;
        }
    }

    private static void add(SplittableRandom random, HeldBuffers held, Model model) {
        ServerBuffer buffer = new ServerBuffer(0, 0, new UnsafeBuffer(new byte[BUFFER]));
        buffer.length = random.nextInt(BUFFER + 1);
        held.add(buffer);
        for (int i = 0; i < buffer.frameCount; i++) {
            model.lengths.add(held.frameLength(buffer, i));
        }
    }

    private static void send(HeldBuffers held, Model model, long window, long seed) {
        if (!held.hasNext()) {
            return;
        }
        int length = held.frameLength(held.next(), held.nextFrame());
        long number = held.next().firstFrame + held.nextFrame();
        assertThat(number).as("seed %d", seed).isEqualTo(model.sentNext);
        long before = model.open();
        held.written();
        model.sentNext++;
        assertThat(before == 0 || before + length <= window)
                .as("seed %d: %d and %d of %d", seed, before, length, window)
                .isTrue();
    }
}
