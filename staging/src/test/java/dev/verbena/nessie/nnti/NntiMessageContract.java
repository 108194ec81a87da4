package dev.verbena.nessie.nnti;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.AllocationMeter;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Sends, with a destination and into the receive queue. */
abstract class NntiMessageContract extends NntiOneSidedContract {
    private static final int SENDERS = 8;

    @Test
    @Tag("nessie-N11")
    @Tag("nessie-N12")
    void shouldSendWholeBuffersWithAnEventAtBothEnds() {
        oneSided();
        NntiBuffer source = pair.left.alloc(5000, 1, BufferFlags.SEND_SRC);
        source.window().setMemory(0, 5000, (byte) 3);
        NntiBuffer small = pair.right.alloc(4999, 1, BufferFlags.RECV_DST);
        NntiBuffer large = pair.right.alloc(6000, 1, BufferFlags.RECV_DST);
        WorkRequest request = new WorkRequest();
        assertThat(pair.left.send(pair.toRight, source, small.handle(), request))
                .isEqualTo(NntiResult.EMSGSIZE);
        assertThat(small.window().getByte(0)).isZero();
        assertThat(pair.left.send(pair.toRight, source, large.handle(), request))
                .isEqualTo(NntiResult.OK);
        assertThat(end(request)).isEqualTo(NntiResult.OK);
        NntiStatus received = new NntiStatus();
        assertThat(pair.right.await(large, 1000, received)).isEqualTo(NntiResult.OK);
        assertThat(received.operation()).isEqualTo(NntiOperation.RECEIVE);
        assertThat(received.length()).isEqualTo(5000);
        assertThat(large.window().getByte(4999)).isEqualTo((byte) 3);
        assertThat(pair.right.await(large, 0, received)).isEqualTo(NntiResult.ETIMEDOUT);
        assertThat(pair.left.send(pair.toRight, source, null, request))
                .isEqualTo(NntiResult.EMSGSIZE);
    }

    @Test
    @Tag("nessie-N15")
    @Tag("nessie-N16")
    @Tag("nessie-N27")
    void shouldFillTheReceiveQueueSlotBySlot() {
        NntiBuffer queue = pair.right.alloc(64, 4, BufferFlags.RECV_QUEUE);
        NntiBuffer source = pair.left.alloc(48, 1, BufferFlags.SEND_SRC);
        List<WorkRequest> sends = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            source.window().setMemory(0, 48, (byte) (i + 1));
            WorkRequest send = new WorkRequest();
            assertThat(pair.left.send(pair.toRight, source, null, send)).isEqualTo(NntiResult.OK);
            sends.add(send);
        }
        pair.pump("sent", () -> sends.stream().allMatch(WorkRequest::isComplete));
        NntiStatus[] received = new NntiStatus[5];
        for (int i = 0; i < 4; i++) {
            received[i] = new NntiStatus();
            assertThat(pair.right.await(queue, 1000, received[i])).isEqualTo(NntiResult.OK);
            assertThat(received[i].offset()).isEqualTo(64L * i);
            assertThat(received[i].length()).isEqualTo(48);
            assertThat(received[i].peer().id()).isEqualTo(pair.left.id());
        }
        // Nothing was released: the fifth waits, and slot 0 is as it was.
        received[4] = new NntiStatus();
        assertThat(pair.right.await(queue, 20, received[4])).isEqualTo(NntiResult.ETIMEDOUT);
        assertThat(queue.window().getByte(0)).isEqualTo((byte) 1);
        pair.right.release(received[0]);
        assertThat(pair.right.await(queue, 1000, received[4])).isEqualTo(NntiResult.OK);
        assertThat(received[4].offset()).isZero();
        assertThat(queue.window().getByte(0)).isEqualTo((byte) 5);
    }

    /** Known is what the peer has when the message comes, not what it had when it connected. */
    @Test
    @Tag("nessie-N6")
    void shouldFailSendsToAPeerWithoutAReceiveQueue() {
        NntiBuffer source = pair.left.alloc(48, 1, BufferFlags.SEND_SRC);
        assertThat(send(source)).isEqualTo(NntiResult.ENOENT);
        assertThat(pair.right.refusedCount()).isEqualTo(1);
        NntiBuffer narrow = pair.right.alloc(47, 2, BufferFlags.RECV_QUEUE);
        assertThat(send(source)).isEqualTo(NntiResult.EMSGSIZE);
        pair.right.unregister(narrow);
        assertThat(send(source)).isEqualTo(NntiResult.ENOENT);
        NntiBuffer queue = pair.right.alloc(48, 2, BufferFlags.RECV_QUEUE);
        assertThat(send(source)).isEqualTo(NntiResult.OK);
        assertThat(pair.right.await(queue, 1000, new NntiStatus())).isEqualTo(NntiResult.OK);
        assertThat(pair.right.refusedCount()).isEqualTo(3);
    }

    /** Both sides send more than credits and slots allow before either looks at what has come. */
    @Test
    void shouldAnswerSendsInBothDirections() {
        pair.left.alloc(8, 4000, BufferFlags.RECV_QUEUE);
        NntiPeer toLeft = pair.right.startConnect(pair.left.url(), 10_000_000_000L);
        pair.pump("connected", () -> toLeft.state() == NntiPeer.State.READY);
        NntiBuffer ofLeft = pair.left.alloc(8, 1, BufferFlags.SEND_SRC);
        NntiBuffer ofRight = pair.right.alloc(8, 1, BufferFlags.SEND_SRC);
        List<WorkRequest> refused = new ArrayList<>();
        List<WorkRequest> taken = new ArrayList<>();
        for (int i = 0; i < 2000; i++) {
            refused.add(new WorkRequest());
            taken.add(new WorkRequest());
            pair.left.send(pair.toRight, ofLeft, null, refused.get(i));
            pair.right.send(toLeft, ofRight, null, taken.get(i));
        }
        pair.pump("left", () -> refused.stream().allMatch(WorkRequest::isComplete));
        pair.pump("right", () -> taken.stream().allMatch(WorkRequest::isComplete));
        assertThat(refused).allMatch(each -> each.status().result() == NntiResult.ENOENT);
        assertThat(taken).allMatch(each -> each.status().result() == NntiResult.OK);
    }

    @Test
    void shouldAllocateNothingForASendAndItsAnswer() {
        NntiBuffer queue = pair.right.alloc(16, 4, BufferFlags.RECV_QUEUE);
        NntiBuffer source = pair.left.alloc(8, 1, BufferFlags.SEND_SRC);
        WorkRequest send = new WorkRequest();
        NntiStatus received = new NntiStatus();
        AllocationMeter.requireNone(
                () -> {
                    for (int i = 0; i < 5_000; i++) {
                        pair.left.send(pair.toRight, source, null, send);
                        while (!send.isComplete()) {
                            pair.left.progress();
                            pair.right.progress();
                        }
                        pair.right.await(queue, 0, received);
                        pair.right.release(received);
                    }
                });
        assertThat(send.status().result()).isEqualTo(NntiResult.OK);
    }

    @Test
    void shouldEndSendsThatNobodyWillAnswer() {
        NntiBuffer source = pair.left.alloc(8, 1, BufferFlags.SEND_SRC);
        WorkRequest send = new WorkRequest();
        pair.left.send(pair.toRight, source, null, send);
        pair.left.disconnect(pair.toRight);
        assertThat(end(send)).isEqualTo(NntiResult.EIO);
    }

    private NntiResult send(NntiBuffer source) {
        WorkRequest request = new WorkRequest();
        NntiResult started = pair.left.send(pair.toRight, source, null, request);
        return started == NntiResult.OK ? end(request) : started;
    }

    @Test
    @Tag("nessie-N17")
    void shouldLoseNothingWithAFullQueue() {
        int count = isWhole() ? 125_000 : 2_500;
        NntiBuffer queue = pair.right.alloc(16, 8, BufferFlags.RECV_QUEUE);
        List<Sender> senders = new ArrayList<>();
        for (int i = 0; i < SENDERS; i++) {
            senders.add(new Sender(i));
        }
        pair.pump("connected", () -> senders.stream().allMatch(Sender::isConnected));
        long[] taken = new long[SENDERS];
        NntiStatus received = new NntiStatus();
        int rounds = 0;
        for (int total = 0; total < SENDERS * count; rounds++) {
            for (Sender each : senders) {
                each.step(count);
            }
            // Looks seldom, so that the queue is full mostly.
            while (rounds % 13 == 0 && pair.right.await(queue, 0, received) == NntiResult.OK) {
                long value = queue.window().getLong((int) received.offset());
                int sender = (int) (value % SENDERS);
                assertThat(value / SENDERS).as("of sender %s", sender).isEqualTo(taken[sender]++);
                pair.right.release(received);
                total++;
            }
        }
        assertThat(taken).containsOnly(count);
    }

    /** Sends its number and how many it has sent, one after the other. */
    private final class Sender {
        private final int number;
        private final NntiTransport network = pair.another();
        private final NntiBuffer source = network.alloc(8, 1, BufferFlags.SEND_SRC);
        private final WorkRequest send = new WorkRequest();
        private final NntiPeer to = network.startConnect(pair.right.url(), 20_000_000_000L);
        private long sent;

        Sender(int number) {
            this.number = number;
        }

        boolean isConnected() {
            return to.state() == NntiPeer.State.READY;
        }

        void step(int count) {
            boolean isFree = send.state() == WorkRequest.State.NULL || send.isComplete();
            if (sent < count && isFree) {
                source.window().putLong(0, sent++ * SENDERS + number);
                network.send(to, source, null, send);
            }
            network.progress();
        }
    }
}
