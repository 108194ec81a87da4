package dev.verbena.shm;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.memory.RegisteredRegion;
import dev.verbena.memory.RemoteDescriptor;
import dev.verbena.softnic.bindings.Layout;
import dev.verbena.transport.Transport;
import dev.verbena.transport.Transports;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * The Java implementation of the ring and pin protocols against the C one, at random: sends,
 * notified puts and releases out of order, both ways. {@code -Dverbena.seed=N} replays a run.
 */
@Timeout(120)
class ShmCrossTest {
    private static final int STEPS = 40_000;
    private static final int REGION_LENGTH = 64 * 1024;

    @Test
    @Tag("seeded")
    void shouldAgreeWithTheCImplementationWhenStepsAreRandom() {
        String given = System.getProperty("verbena.seed");
        long seed = given != null ? Long.parseLong(given) : System.nanoTime();
        System.out.println("ShmCrossTest: -Dverbena.seed=" + seed);
        Random random = new Random(seed);
        for (int round = 0; round < 6; round++) {
            int credits = 1 << random.nextInt(6);
            int messageMax = 64 + random.nextInt(2000);
            new Run(random, credits, messageMax, "seed " + seed + " round " + round).go();
        }
    }

    /** One connection with its model. */
    private static final class Run extends Pair.Seen {
        private final Random random;
        private final int messageMax;
        private final String replay;
        private final CPeer c;
        private final Transport java;
        private final RegisteredRegion source;
        private final RegisteredRegion target;
        private final RemoteDescriptor key = new RemoteDescriptor();
        private final ArrayDeque<byte[]> toC = new ArrayDeque<>();
        private final ArrayDeque<byte[]> toJava = new ArrayDeque<>();
        private final ArrayDeque<long[]> notifiesToJava = new ArrayDeque<>();
        private final byte[] model = new byte[REGION_LENGTH];
        private final List<Long> held = new ArrayList<>();
        private long handle;
        private int checkedMessages;
        private int checkedNotifies;

        Run(Random random, int credits, int messageMax, String replay) {
            this.random = random;
            this.messageMax = messageMax;
            this.replay = replay + " credits " + credits + " messageMax " + messageMax;
            this.c = new CPeer("c" + random.nextInt(1 << 30), messageMax, credits);
            this.java =
                    Transports.open(
                            "shm",
                            ShmTesting.context("cross")
                                    .messageLengthMax(messageMax)
                                    .creditsPerConnection(credits));
            this.transport = java;
            this.isRetaining = true;
            this.source = java.allocate(REGION_LENGTH, 0);
            this.target = java.allocate(REGION_LENGTH, RemoteDescriptor.REMOTE_ALL);
            target.describe(0, REGION_LENGTH, RemoteDescriptor.REMOTE_ALL, key);
        }

        void go() {
            c.listen();
            handle = java.connect(c.uri(), null, 0, 0, 7, Pair.TIMEOUT_NS);
            long deadlineNs = System.nanoTime() + Pair.TIMEOUT_NS;
            while (connected == 0) {
                java.poll(this, 10);
                c.poll();
                assertThat(deadlineNs - System.nanoTime()).as(replay).isPositive();
            }
            for (int i = 0; i < STEPS / 6; i++) {
                step(i);
            }
            while (!toC.isEmpty() || checkedMessages < messages.size() || !toJava.isEmpty()) {
                drain();
                assertThat(deadlineNs - System.nanoTime()).as(replay).isPositive();
            }
            assertThat(ends).as(replay).isEmpty();
            byte[] bytes = new byte[REGION_LENGTH];
            target.buffer(0, REGION_LENGTH).getBytes(0, bytes);
            assertThat(bytes).as(replay).isEqualTo(model);
            assertThat(statuses).as(replay).containsOnly(0);
            drain();
            java.disconnect(handle);
            for (int i = 0; c.endType == 0 && i < 1_000_000; i++) {
                c.poll();
            }
            assertThat(c.endType).isEqualTo(Layout.SHM_EVENT_DISCONNECTED);
            source.close();
            target.close();
            java.close();
            c.close();
        }

        private void step(int i) {
            switch (random.nextInt(8)) {
                case 0, 1 -> sendToC(i);
                case 2, 3 -> sendToJava();
                case 4 -> putNotifyToJava(i);
                case 5 -> c.poll();
                case 6 -> java.poll(this, 1 + random.nextInt(5));
                default -> releaseSome();
            }
            check();
        }

        private byte[] bytes() {
            byte[] bytes = new byte[random.nextInt(messageMax + 1)];
            random.nextBytes(bytes);
            return bytes;
        }

        private void sendToC(int i) {
            byte[] bytes = bytes();
            source.buffer(0, bytes.length).putBytes(0, bytes);
            int result = java.send(handle, source, 0, bytes.length, i, 0);
            if (result == Transport.ACCEPTED) {
                toC.add(bytes);
            } else {
                assertThat(result).as(replay).isEqualTo(Transport.BACK_PRESSURED);
            }
        }

        private void sendToJava() {
            byte[] bytes = bytes();
            int result = c.send(bytes);
            if (result == 0) {
                toJava.add(bytes);
            } else {
                assertThat(result).as(replay).isEqualTo(-Errno.EAGAIN);
            }
        }

        private void putNotifyToJava(int tag) {
            byte[] bytes = bytes();
            int offset = random.nextInt(REGION_LENGTH - bytes.length);
            int result =
                    c.putNotify(key.keyLow(), key.generation(), key.keyHigh(), offset, bytes, tag);
            if (result == 0) {
                System.arraycopy(bytes, 0, model, offset, bytes.length);
                notifiesToJava.add(new long[] {tag, target.id(), offset, bytes.length});
            } else {
                assertThat(result).as(replay).isEqualTo(-Errno.EAGAIN);
            }
        }

        private void releaseSome() {
            held.addAll(tokens);
            tokens.clear();
            while (!held.isEmpty() && random.nextInt(3) != 0) {
                java.release(held.remove(random.nextInt(held.size())));
            }
            while (!c.tokens.isEmpty() && random.nextInt(3) != 0) {
                c.release(c.tokens.remove(random.nextInt(c.tokens.size())));
            }
        }

        private void drain() {
            java.poll(this, 100);
            c.poll();
            held.addAll(tokens);
            tokens.clear();
            while (!held.isEmpty()) {
                java.release(held.remove(random.nextInt(held.size())));
            }
            while (!c.tokens.isEmpty()) {
                c.release(c.tokens.remove(random.nextInt(c.tokens.size())));
            }
            check();
        }

        private void check() {
            while (!c.messages.isEmpty()) {
                assertThat(c.messages.poll()).as(replay).isEqualTo(toC.poll());
            }
            for (; checkedMessages < messages.size(); checkedMessages++) {
                assertThat(messages.get(checkedMessages)).as(replay).isEqualTo(toJava.poll());
            }
            for (; checkedNotifies < notifies.size(); checkedNotifies++) {
                assertThat(notifies.get(checkedNotifies))
                        .as(replay)
                        .isEqualTo(notifiesToJava.poll());
            }
        }
    }
}
