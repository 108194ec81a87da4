package dev.verbena.dart.stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.dart.DartException;
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
    @Tag("seeded")
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
            assertThat(held.unacknowledged)
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

    private static ServerBuffer buffer(int length) {
        ServerBuffer buffer = new ServerBuffer(0, 0, new UnsafeBuffer(new byte[0]));
        buffer.length = length;
        return buffer;
    }

    @Test
    void shouldNumberFramesAndKnowTheirLengths() {
        HeldBuffers held = new HeldBuffers(4, FRAME);
        int[] lengths = {0, 1, FRAME, FRAME + 1, 3 * FRAME};
        int[] frames = {1, 1, 1, 2, 3};
        long next = 1;
        for (int i = 0; i < lengths.length; i++) {
            ServerBuffer buffer = buffer(lengths[i]);
            held.add(buffer);
            assertThat(buffer.firstFrame).isEqualTo(next);
            assertThat(buffer.frameCount).isEqualTo(frames[i]);
            next += frames[i];
        }
        assertThat(held.frameLength(held.at(3), 0)).isEqualTo(FRAME);
        assertThat(held.frameLength(held.at(3), 1)).isEqualTo(1);
        assertThat(held.frameLength(held.at(0), 0)).isZero();
    }

    /** What is put arrives before the put has completed. */
    @Test
    void shouldTakeAnAcknowledgementOfAFrameThatIsStillBeingWritten() {
        HeldBuffers held = new HeldBuffers(4, FRAME);
        List<ServerBuffer> back = new ArrayList<>();
        ServerBuffer buffer = buffer(2 * FRAME);
        held.add(buffer);
        assertThat(held.sentUpTo()).isZero();
        held.begun();
        assertThat(held.sentUpTo()).isEqualTo(1);
        held.checkAcknowledgement(2);
        assertThatThrownBy(() -> held.checkAcknowledgement(3)).isInstanceOf(DartException.class);
        // The connection breaks before the put is known to have completed; the receiver has it.
        held.acknowledge(2, back::add);
        held.rewind(2);
        assertThat(held.nextFrame()).isEqualTo(1);
        held.begun();
        held.written();
        held.acknowledge(3, back::add);
        assertThat(back).containsExactly(buffer);
    }

    /** It grows while it wraps around, and loses nobody's place. */
    @Test
    void shouldKeepItsOrderWhileItGrows() {
        HeldBuffers held = new HeldBuffers(2, FRAME);
        List<ServerBuffer> given = new ArrayList<>();
        List<ServerBuffer> back = new ArrayList<>();
        assertThat(held.isEmpty()).isTrue();
        for (int i = 0; i < 20; i++) {
            given.add(buffer(10));
            held.add(given.get(i));
            if (i == 0) {
                held.written();
                held.acknowledge(2, back::add);
                assertThat(back).containsExactly(given.get(0));
            }
        }
        assertThat(held.head()).isEqualTo(1);
        assertThat(held.tail()).isEqualTo(20);
        assertThat(held.count()).isEqualTo(19);
        assertThat(held.isEmpty()).isFalse();
        for (int i = 1; i < 20; i++) {
            assertThat(held.at(i)).isSameAs(given.get(i));
        }
        ServerBuffer other = buffer(10);
        held.standIn(7, other);
        assertThat(held.at(7)).isSameAs(other);
    }

    @Test
    void shouldGoOnBehindWhatAnEarlierServerSent() {
        HeldBuffers held = new HeldBuffers(4, FRAME);
        for (long first : new long[] {41, 43}) {
            ServerBuffer found = buffer(2 * FRAME);
            found.firstFrame = first;
            found.frameCount = 2;
            held.addFound(found);
        }
        assertThat(held.acknowledgedNext()).isEqualTo(41);
        assertThat(held.sentUpTo()).isEqualTo(44);
        assertThat(held.count()).isEqualTo(2);
        ServerBuffer added = buffer(1);
        held.add(added);
        assertThat(added.firstFrame).isEqualTo(45);
        held = new HeldBuffers(4, FRAME);
        held.arrivedBeyond(60);
        assertThat(held.sentUpTo()).isEqualTo(60);
        assertThat(held.acknowledgedNext()).isEqualTo(61);
        held.add(added);
        assertThat(added.firstFrame).isEqualTo(61);
        held.checkAcknowledgement(61);
    }

    @Test
    void shouldTakeAcknowledgementsOfWhatWasSentOnly() {
        HeldBuffers held = new HeldBuffers(4, FRAME);
        held.add(buffer(2 * FRAME));
        held.written();
        held.checkAcknowledgement(1);
        held.checkAcknowledgement(2);
        for (long wrong : new long[] {0, -1, 3}) {
            assertThatThrownBy(() -> held.acknowledge(wrong, b -> {}))
                    .isInstanceOf(DartException.class)
                    .hasMessageContaining("ACK asks for " + wrong);
        }
        held.acknowledge(2, b -> {});
        assertThat(held.unacknowledged).isZero();
        for (long wrong : new long[] {1, 3}) {
            assertThatThrownBy(() -> held.rewind(wrong))
                    .isInstanceOf(DartException.class)
                    .hasMessageContaining("outside 2 to 2");
        }
        held.rewind(2);
        assertThat(held.nextFrame()).isEqualTo(1);
    }

    @Test
    void shouldFillTheWindowToTheByte() {
        HeldBuffers held = new HeldBuffers(4, FRAME);
        assertThat(held.hasNext()).isFalse();
        held.window(2 * FRAME);
        held.add(buffer(3 * FRAME));
        held.written();
        assertThat(held.hasNext()).isTrue();
        held.window(2 * FRAME - 1);
        assertThat(held.hasNext()).isFalse();
        // One frame is always allowed: it may be longer than the window.
        held.acknowledge(2, b -> {});
        held.window(1);
        assertThat(held.hasNext()).isTrue();
    }

    @Test
    void shouldNameWhatTheReceiverNeverConfirmed() {
        HeldBuffers held = new HeldBuffers(4, FRAME);
        ServerBuffer dropped = buffer(1);
        dropped.isDropped = true;
        held.add(dropped);
        ServerBuffer kept = buffer(1);
        kept.clientId = 7;
        kept.sequence = 12;
        held.add(kept);
        List<Throwable> errors = new ArrayList<>();
        held.reportUnacknowledged(new LostMessages(errors::add));
        assertThat(errors).hasSize(1);
        assertThat(errors.get(0)).hasMessageContaining("12").hasMessageContaining("7");
    }

    @Test
    void shouldHoldFramesUntilAcknowledgedAndGoBack() {
        HeldBuffers held = new HeldBuffers(4, 40);
        List<ServerBuffer> given = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            held.add(numbered(i, 100));
        }
        held.window(1000);
        for (int i = 0; i < 9; i++) {
            assertThat(held.hasNext()).isTrue();
            held.written();
        }
        assertThat(held.hasNext()).isFalse();
        assertThat(held.sentUpTo()).isEqualTo(9);
        assertThat(held.unacknowledged).isEqualTo(300);
        held.acknowledge(4, given::add);
        assertThat(given).hasSize(1);
        assertThat(held.unacknowledged).isEqualTo(200);
        held.acknowledge(6, given::add);
        assertThat(given).hasSize(1);
        assertThatThrownBy(() -> held.acknowledge(11, given::add)).hasMessageContaining("11");
        assertThatThrownBy(() -> held.rewind(5)).hasMessageContaining("5");
        held.rewind(8);
        assertThat(held.next().index).isEqualTo(2);
        assertThat(held.nextFrame()).isEqualTo(1);
        assertThat(held.unacknowledged).isEqualTo(60);
        held.rewind(6);
        assertThat(held.next().index).isEqualTo(1);
        assertThat(held.nextFrame()).isEqualTo(2);
        // What arrived over the connection before need not be sent again.
        held.acknowledge(9, given::add);
        assertThat(given).hasSize(2);
        assertThat(held.nextFrame()).isEqualTo(2);
        assertThat(held.next().index).isEqualTo(2);
        held.written();
        held.acknowledge(10, given::add);
        assertThat(given).hasSize(3);
        assertThat(held.isEmpty()).isTrue();
        assertThat(held.unacknowledged).isZero();
    }

    @Test
    void shouldKeepWithinWindow() {
        HeldBuffers held = new HeldBuffers(4, 40);
        held.window(90);
        held.add(numbered(0, 100));
        held.add(numbered(1, 100));
        held.written();
        held.written();
        assertThat(held.hasNext()).isFalse();
        held.acknowledge(2, b -> {});
        assertThat(held.hasNext()).isTrue();
    }

    private static ServerBuffer numbered(int index, int length) {
        ServerBuffer buffer = new ServerBuffer(index, 0, new UnsafeBuffer(new byte[length]));
        buffer.beginPull(0, 0, length, 0);
        return buffer;
    }
}
