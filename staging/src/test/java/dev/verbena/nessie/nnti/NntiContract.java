package dev.verbena.nessie.nnti;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.AllocationMeter;
import dev.verbena.memory.OffHeapMemories;
import dev.verbena.transport.Capability;
import dev.verbena.transport.Transport;
import java.net.URI;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * NNTI over a transport, both ends on one thread: one small subclass for each provider names the
 * scheme.
 */
@Timeout(120)
public abstract class NntiContract {
    private static final int SENDERS = 8;
    private static final int SOURCE = BufferFlags.PUT_SRC | BufferFlags.GET_DST;
    private static final int TARGET = BufferFlags.PUT_DST | BufferFlags.GET_SRC;

    private NntiPair pair;

    /** For subclasses in other modules. */
    protected NntiContract() {}

    /** URI scheme of the provider. */
    protected abstract String scheme();

    @BeforeEach
    void open() {
        pair = new NntiPair(scheme(), NntiOptions.DEFAULT);
    }

    @AfterEach
    void close() {
        pair.close();
    }

    private void oneSided() {
        pair.close();
        pair = new NntiPair(scheme(), NntiOptions.ONE_SIDED);
    }

    private NntiResult end(WorkRequest request) {
        pair.pump("ended", request::isComplete);
        return request.status().result();
    }

    private NntiResult put(NntiBuffer from, long offset, long length, BufferHandle to, long at) {
        WorkRequest request = new WorkRequest();
        NntiResult started = pair.left.put(pair.toRight, from, offset, length, to, at, request);
        return started == NntiResult.OK ? end(request) : started;
    }

    private static void requireRefused(NntiResult result, Runnable call) {
        assertThatThrownBy(call::run)
                .isInstanceOfSatisfying(
                        NntiException.class, e -> assertThat(e.result()).isEqualTo(result));
    }

    @Test
    @Tag("nessie-N1")
    void shouldInitializeOnceUntilItIsClosed() {
        NntiTransport first = NntiTransport.init(scheme(), NntiPair.context(), NntiOptions.DEFAULT);
        assertThat(NntiTransport.init(scheme(), NntiPair.context(), NntiOptions.DEFAULT))
                .isSameAs(first);
        first.close();
        assertThat(NntiTransport.isInitialized(scheme())).isFalse();
        NntiTransport next = NntiTransport.init(scheme(), NntiPair.context(), NntiOptions.DEFAULT);
        assertThat(next).isNotSameAs(first);
        next.close();
    }

    @Test
    @Tag("nessie-N2")
    void shouldHaveAnAddressThatLeadsBack() {
        assertThat(pair.right.url()).hasSizeLessThanOrEqualTo(127);
        assertThat(pair.toRight.url()).isEqualTo(URI.create(pair.right.url()));
        assertThat(pair.toRight.id()).isEqualTo(pair.right.id());
    }

    @Test
    @Tag("nessie-N3")
    void shouldRefuseAddressesOfOtherSchemes() {
        for (String url : new String[] {"ib://host:1", "not a url", "", "shm://bad", null}) {
            requireRefused(NntiResult.EINVAL, () -> pair.left.connect(url, 100));
        }
    }

    @Test
    @Tag("nessie-N4")
    void shouldNotHangWhereNobodyListens() {
        // With its incarnation the address would be refused, for another may be there.
        String url = pair.right.url().replaceFirst("[?&]incarnation=[0-9a-f]+", "");
        pair.right.close();
        long start = System.nanoTime();
        assertThatThrownBy(() -> pair.left.connect(url, 10_000))
                .isInstanceOfSatisfying(
                        NntiException.class,
                        e -> assertThat(e.result()).isIn(NntiResult.EIO, NntiResult.ETIMEDOUT));
        assertThat(System.nanoTime() - start).isLessThan(12_000_000_000L);
    }

    @Test
    @Tag("nessie-N7")
    void shouldFailOperationsAfterDisconnect() {
        NntiBuffer source = pair.left.alloc(64, 1, SOURCE);
        NntiBuffer target = pair.right.alloc(64, 1, TARGET);
        NntiPeer other = pair.left.startConnect(pair.right.url(), 1_000_000_000L);
        pair.pump("second", () -> other.state() == NntiPeer.State.READY);
        pair.left.disconnect(pair.toRight);
        assertThat(put(source, 0, 8, target.handle(), 0)).isEqualTo(NntiResult.EIO);
        WorkRequest request = new WorkRequest();
        assertThat(pair.left.put(other, source, 0, 8, target.handle(), 0, request))
                .isEqualTo(NntiResult.OK);
        assertThat(end(request)).isEqualTo(NntiResult.OK);
    }

    @Test
    @Tag("nessie-N8")
    void shouldRefuseBadRegistrations() {
        requireRefused(NntiResult.EINVAL, () -> pair.left.alloc(8, 1, 0));
        requireRefused(NntiResult.EINVAL, () -> pair.left.alloc(8, 1, 1 << 12));
        requireRefused(NntiResult.EINVAL, () -> pair.left.alloc(0, 1, SOURCE));
        requireRefused(NntiResult.EINVAL, () -> pair.left.alloc(8, 0, SOURCE));
        requireRefused(NntiResult.EINVAL, () -> pair.left.alloc(1 << 30, 1 << 30, SOURCE));
    }

    @Test
    @Tag("nessie-N9")
    void shouldKeepToTheRightsOfBuffers() {
        NntiBuffer local = pair.left.alloc(64, 1, SOURCE);
        local.window().setMemory(0, 64, (byte) 7);
        NntiBuffer readable = pair.right.alloc(64, 1, BufferFlags.GET_SRC);
        NntiBuffer writable = pair.right.alloc(64, 1, BufferFlags.PUT_DST);
        assertThat(put(local, 0, 8, readable.handle(), 0)).isEqualTo(NntiResult.EPERM);
        assertThat(readable.window().getLong(0)).isZero();
        WorkRequest request = new WorkRequest();
        assertThat(pair.left.get(pair.toRight, writable.handle(), 0, 8, local, 0, request))
                .isEqualTo(NntiResult.EPERM);
    }

    /** Who forges the flags of a handle still meets the rights that the provider checks. */
    @Test
    @Tag("nessie-N9")
    void shouldNotBelieveTheFlagsOfAForgedHandle() {
        NntiBuffer local = pair.left.alloc(64, 1, SOURCE);
        local.window().setMemory(0, 64, (byte) 7);
        NntiBuffer readable = pair.right.alloc(64, 1, BufferFlags.GET_SRC);
        UnsafeBuffer bytes = new UnsafeBuffer(new byte[BufferHandle.LENGTH_OF_ONE]);
        readable.handle().encode(bytes, 0);
        bytes.putByte(7, (byte) BufferFlags.ALL);
        BufferHandle forged = new BufferHandle();
        assertThat(forged.decode(bytes, 0, bytes.capacity())).isEqualTo(NntiResult.OK);
        assertThat(put(local, 0, 8, forged, 0)).isEqualTo(NntiResult.EPERM);
        assertThat(readable.window().getLong(0)).isZero();
    }

    @Test
    @Tag("nessie-N10")
    void shouldRefuseRangesBeforeAnyTraffic() {
        NntiBuffer local = pair.left.alloc(64, 1, SOURCE);
        NntiBuffer target = pair.right.alloc(32, 1, TARGET);
        long[][] ranges = {
            {0, 65, 0},
            {60, 5, 0},
            {0, 33, 0},
            {0, 8, 25},
            {-1, 8, 0},
            {0, -1, 0},
            {0, 8, -1},
            {Long.MAX_VALUE, 8, 0},
            {8, Long.MAX_VALUE, 0},
            {0, 8, Long.MAX_VALUE}
        };
        local.window().setMemory(0, 64, (byte) 7);
        WorkRequest get = new WorkRequest();
        for (long[] each : ranges) {
            String what = Arrays.toString(each);
            assertThat(
                            pair.left.put(
                                    pair.toRight,
                                    local,
                                    each[0],
                                    each[1],
                                    target.handle(),
                                    each[2],
                                    get))
                    .as(what)
                    .isEqualTo(NntiResult.EINVAL);
            assertThat(
                            pair.left.get(
                                    pair.toRight,
                                    target.handle(),
                                    each[2],
                                    each[1],
                                    local,
                                    each[0],
                                    get))
                    .as(what)
                    .isEqualTo(NntiResult.EINVAL);
            // It was refused before it began.
            assertThat(get.state()).as(what).isEqualTo(WorkRequest.State.NULL);
        }
        assertThat(target.window().getLong(0)).isZero();
        assertThat(local.window().getByte(0)).isEqualTo((byte) 7);
    }

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
    @Tag("nessie-N13")
    void shouldTellTheTargetOnceOfEachPutAndGet() {
        NntiBuffer local = pair.left.alloc(256, 1, SOURCE);
        NntiBuffer target = pair.right.alloc(256, 1, TARGET);
        EventQueue events = new EventQueue(8);
        local.attach(events);
        assertThat(put(local, 3, 100, target.handle(), 17)).isEqualTo(NntiResult.OK);
        WorkRequest got = new WorkRequest();
        pair.left.get(pair.toRight, target.handle(), 5, 50, local, 9, got);
        assertThat(end(got)).isEqualTo(NntiResult.OK);
        NntiStatus status = new NntiStatus();
        assertThat(pair.right.await(target, 1000, status)).isEqualTo(NntiResult.OK);
        assertThat(status.operation()).isEqualTo(NntiOperation.TARGET_PUT);
        assertThat(status.offset()).isEqualTo(17);
        assertThat(status.length()).isEqualTo(100);
        assertThat(status.peer().id()).isEqualTo(pair.left.id());
        assertThat(pair.right.await(target, 1000, status)).isEqualTo(NntiResult.OK);
        assertThat(status.operation()).isEqualTo(NntiOperation.TARGET_GET);
        assertThat(status.offset()).isEqualTo(5);
        assertThat(status.length()).isEqualTo(50);
        assertThat(pair.right.await(target, 0, status)).isEqualTo(NntiResult.ETIMEDOUT);
        assertThat(events.take(status)).isTrue();
        assertThat(status.operation()).isEqualTo(NntiOperation.PUT);
        assertThat(events.take(status)).isTrue();
        assertThat(events.take(status)).isFalse();
    }

    @Test
    @Tag("nessie-N14")
    void shouldNotWaitForEventsThatNeverCome() {
        oneSided();
        NntiBuffer target = pair.right.alloc(256, 1, TARGET);
        assertThat(pair.right.await(target, NntiTransport.NEVER, new NntiStatus()))
                .isEqualTo(NntiResult.EINVAL);
        assertThat(pair.right.receive(target, new WorkRequest())).isEqualTo(NntiResult.EINVAL);
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
        // --long: 1,000,000 sends instead of 20,000
        int count = Boolean.getBoolean("verbena.long") ? 125_000 : 2_500;
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

    @Test
    @Tag("nessie-N19")
    void shouldProgressOtherBuffers() {
        NntiBuffer a = pair.left.alloc(1 << 20, 1, SOURCE);
        NntiBuffer b = pair.left.alloc(64, 1, SOURCE);
        NntiBuffer target = pair.right.alloc(1 << 20, 1, TARGET);
        List<WorkRequest> order = new ArrayList<>();
        for (int length : new int[] {1 << 20, 8, 1 << 16}) {
            WorkRequest request = new WorkRequest();
            pair.left.put(pair.toRight, a, 0, length, target.handle(), 0, request);
            order.add(request);
        }
        WorkRequest ofB = new WorkRequest();
        pair.left.put(pair.toRight, b, 0, 8, target.handle(), 0, ofB);
        NntiStatus status = new NntiStatus();
        for (WorkRequest each : order) {
            assertThat(pair.left.await(a, 1000, status)).isEqualTo(NntiResult.OK);
            assertThat(status.length()).isEqualTo(each.status().length());
        }
        // A network may end it behind those of a: who then waits for another one sees its end.
        for (int i = 0; i < 1000 && !ofB.isComplete(); i++) {
            pair.left.put(pair.toRight, a, 0, 8, target.handle(), 0, new WorkRequest());
            assertThat(pair.left.await(a, 1000, status)).isEqualTo(NntiResult.OK);
        }
        assertThat(ofB.isComplete()).isTrue();
        assertThat(pair.left.await(b, 0, status)).isEqualTo(NntiResult.OK);
        assertThat(pair.left.await(b, 0, status)).isEqualTo(NntiResult.EINVAL);
    }

    @Test
    @Tag("nessie-N20")
    void shouldKeepTimeouts() {
        NntiBuffer queue = pair.right.alloc(64, 4, BufferFlags.RECV_QUEUE);
        Transport clock = pair.right.transport();
        long least = Long.MAX_VALUE;
        // The machine may be busy: not each of them need be in time.
        for (int i = 0; i < 20 && least > 150_000_000; i++) {
            long start = clock.nanoTime();
            assertThat(pair.right.await(queue, 100, new NntiStatus()))
                    .isEqualTo(NntiResult.ETIMEDOUT);
            least = Math.min(least, clock.nanoTime() - start);
        }
        assertThat(least).isBetween(100_000_000L, 150_000_000L);
        assertThat(pair.right.await(queue, 0, new NntiStatus())).isEqualTo(NntiResult.ETIMEDOUT);
    }

    @Test
    @Tag("nessie-N21")
    void shouldWaitForAnyAndForAll() {
        NntiBuffer local = pair.left.alloc(64, 1, SOURCE);
        NntiBuffer target = pair.right.alloc(64, 1, TARGET);
        NntiBuffer queue = pair.left.alloc(64, 1, BufferFlags.RECV_QUEUE);
        WorkRequest never = new WorkRequest();
        pair.left.receive(queue, never);
        WorkRequest done = new WorkRequest();
        pair.left.put(pair.toRight, local, 0, 8, target.handle(), 0, done);
        assertThat(pair.left.awaitAny(Arrays.asList(null, never, done), 1000)).isEqualTo(2);
        assertThat(pair.left.awaitAll(Arrays.asList(done, null, never), 20))
                .isEqualTo(NntiResult.ETIMEDOUT);
        assertThat(pair.left.awaitAll(Arrays.asList(done, null), 20)).isEqualTo(NntiResult.OK);
        assertThat(pair.left.awaitAny(Arrays.asList(never, null), 0)).isEqualTo(-1);
    }

    @Test
    @Tag("nessie-N22")
    void shouldCancelWhatIsOutstandingAndRevoke() {
        NntiBuffer local = pair.left.alloc(64, 1, SOURCE);
        local.window().setMemory(0, 64, (byte) 7);
        ByteBuffer memory = ByteBuffer.allocateDirect(64);
        NntiBuffer target = pair.right.register(OffHeapMemories.wrap(memory), TARGET);
        List<WorkRequest> receives = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            receives.add(new WorkRequest());
            pair.right.receive(target, receives.get(i));
        }
        BufferHandle handle = new BufferHandle().set(target.handle());
        pair.right.unregister(target);
        pair.right.unregister(target);
        assertThat(receives).allMatch(each -> each.status().result() == NntiResult.ECANCELED);
        assertThat(put(local, 0, 8, handle, 0)).isEqualTo(NntiResult.ENOENT);
        assertThat(memory.getLong(0)).isZero();
        assertThat(target.window().capacity()).isZero();
    }

    /** More sends than can be on their way at a time: the others have not begun. */
    @Test
    @Tag("nessie-N22")
    void shouldCancelSendsThatHaveNotBegun() {
        pair.right.alloc(8, 4, BufferFlags.RECV_QUEUE);
        NntiBuffer source = pair.left.alloc(8, 1, BufferFlags.SEND_SRC);
        List<WorkRequest> sends = new ArrayList<>();
        for (int i = 0; i < 5000; i++) {
            sends.add(new WorkRequest());
            pair.left.send(pair.toRight, source, null, sends.get(i));
        }
        pair.left.unregister(source);
        assertThat(sends.get(4999).status().result()).isEqualTo(NntiResult.ECANCELED);
        pair.pump("ended", () -> sends.stream().allMatch(WorkRequest::isComplete));
        assertThat(sends)
                .extracting(each -> each.status().result())
                .containsOnly(NntiResult.OK, NntiResult.ECANCELED);
    }

    @Test
    @Tag("nessie-N23")
    void shouldEndAWaitByAnInterrupt() throws InterruptedException {
        NntiBuffer queue = pair.right.alloc(64, 4, BufferFlags.RECV_QUEUE);
        WorkRequest receive = new WorkRequest();
        pair.right.receive(queue, receive);
        Thread other = new Thread(pair.right::interrupt);
        other.start();
        assertThat(pair.right.await(receive, NntiTransport.NEVER)).isEqualTo(NntiResult.EINTR);
        other.join();
        NntiBuffer source = pair.left.alloc(8, 1, BufferFlags.SEND_SRC);
        pair.left.send(pair.toRight, source, null, new WorkRequest());
        pair.pump("received", receive::isComplete);
        assertThat(pair.right.await(receive, 0)).isEqualTo(NntiResult.OK);
    }

    @Test
    @Tag("nessie-N24")
    void shouldCancelOnlyWhatHasNotEnded() {
        NntiBuffer queue = pair.right.alloc(64, 4, BufferFlags.RECV_QUEUE);
        WorkRequest receive = new WorkRequest();
        pair.right.receive(queue, receive);
        assertThat(pair.right.cancel(receive)).isEqualTo(NntiResult.OK);
        assertThat(pair.right.await(receive, 0)).isEqualTo(NntiResult.ECANCELED);
        NntiBuffer source = pair.left.alloc(8, 1, BufferFlags.SEND_SRC);
        WorkRequest send = new WorkRequest();
        pair.left.send(pair.toRight, source, null, send);
        assertThat(end(send)).isEqualTo(NntiResult.OK);
        assertThat(pair.left.cancel(send)).isEqualTo(NntiResult.EAGAIN);
        assertThat(pair.left.await(send, 0)).isEqualTo(NntiResult.OK);
    }

    @Test
    void shouldChangeVariablesOfAPeer() {
        if ((pair.left.transport().capabilities() & Capability.ATOMICS) == 0) {
            assertThat(pair.left.fetchAdd(pair.toRight, 3, 5, new WorkRequest()))
                    .isEqualTo(NntiResult.ENOTSUP);
            return;
        }
        List<Integer> changed = new ArrayList<>();
        pair.right.onVariableChanged(changed::add);
        WorkRequest request = new WorkRequest();
        for (int i = 0; i < 10; i++) {
            assertThat(pair.left.fetchAdd(pair.toRight, 3, 5, request)).isEqualTo(NntiResult.OK);
            assertThat(end(request)).isEqualTo(NntiResult.OK);
            assertThat(request.status().length()).isEqualTo(5L * i);
        }
        pair.left.compareSwap(pair.toRight, 3, 50, 7, request);
        end(request);
        pair.pump("callbacks", () -> changed.size() == 11);
        assertThat(pair.right.variable(3)).isEqualTo(7);
        assertThat(pair.left.fetchAdd(pair.toRight, 64, 1, request)).isEqualTo(NntiResult.EINVAL);
        assertThat(pair.left.fetchAdd(pair.toRight, -1, 1, request)).isEqualTo(NntiResult.EINVAL);
    }

    @Test
    void shouldChangeTheBytesOfABufferAtomically() {
        if ((pair.left.transport().capabilities() & Capability.ATOMICS) == 0) {
            return;
        }
        NntiBuffer counters = pair.right.alloc(8, 3, BufferFlags.ATOMICS);
        BufferHandle there = counters.handle();
        WorkRequest request = new WorkRequest();
        for (int i = 0; i < 10; i++) {
            assertThat(pair.left.fetchAdd(pair.toRight, there, 16, 5, request))
                    .isEqualTo(NntiResult.OK);
            assertThat(end(request)).isEqualTo(NntiResult.OK);
            assertThat(request.status().length()).isEqualTo(5L * i);
        }
        pair.left.compareSwap(pair.toRight, there, 16, 50, 7, request);
        assertThat(end(request)).isEqualTo(NntiResult.OK);
        pair.left.compareSwap(pair.toRight, there, 8, 50, 7, request);
        assertThat(end(request)).isEqualTo(NntiResult.OK);
        assertThat(counters.window().getLong(16)).isEqualTo(7);
        assertThat(counters.window().getLong(8)).isZero();
        for (long wrong : new long[] {-8, 4, 17, 20, 24, Long.MAX_VALUE}) {
            assertThat(pair.left.fetchAdd(pair.toRight, there, wrong, 1, request))
                    .as("byte %s", wrong)
                    .isEqualTo(NntiResult.EINVAL);
        }
        assertThat(put(pair.left.alloc(8, 1, SOURCE), 0, 8, there, 0)).isEqualTo(NntiResult.EPERM);
        NntiBuffer target = pair.right.alloc(8, 1, TARGET);
        assertThat(pair.left.fetchAdd(pair.toRight, target.handle(), 0, 1, request))
                .isEqualTo(NntiResult.EPERM);
        assertThat(pair.left.compareSwap(pair.toRight, target.handle(), 0, 0, 1, request))
                .isEqualTo(NntiResult.EPERM);
        assertThat(target.window().getLong(0)).isZero();
    }

    @Test
    @Tag("nessie-N28")
    void shouldPutOverThreeSegments() {
        List<dev.verbena.memory.OffHeapMemory> pieces = new ArrayList<>();
        List<ByteBuffer> memory = new ArrayList<>();
        for (int length : new int[] {100, 50, 77}) {
            ByteBuffer piece = ByteBuffer.allocateDirect(length);
            memory.add(piece);
            pieces.add(OffHeapMemories.wrap(piece));
        }
        NntiBuffer target = pair.right.registerSegments(pieces, TARGET);
        NntiBuffer local = pair.left.alloc(227, 1, SOURCE);
        byte[] bytes = new byte[227];
        new Random(1).nextBytes(bytes);
        local.window().putBytes(0, bytes);
        assertThat(put(local, 90, 100, target.handle(), 90)).isEqualTo(NntiResult.OK);
        for (int i = 90; i < 190; i++) {
            int segment = i < 100 ? 0 : i < 150 ? 1 : 2;
            int start = segment == 0 ? 0 : segment == 1 ? 100 : 150;
            assertThat(memory.get(segment).get(i - start)).as("byte %s", i).isEqualTo(bytes[i]);
        }
        assertThat(memory.get(0).get(89)).isZero();
        assertThat(memory.get(2).get(40)).isZero();
        NntiStatus status = new NntiStatus();
        assertThat(pair.right.await(target, 1000, status)).isEqualTo(NntiResult.OK);
        assertThat(status.offset()).isEqualTo(90);
        assertThat(status.length()).isEqualTo(100);
        assertThat(pair.right.await(target, 0, status)).isEqualTo(NntiResult.ETIMEDOUT);
    }

    @Test
    @Tag("nessie-N29")
    void shouldPackHandles() {
        NntiBuffer buffer = pair.right.alloc(64, 1, TARGET);
        UnsafeBuffer bytes = new UnsafeBuffer(new byte[BufferHandle.LENGTH_OF_ONE]);
        int length = buffer.handle().encode(bytes, 0);
        assertThat(length).isEqualTo(BufferHandle.LENGTH_OF_ONE).isLessThanOrEqualTo(96);
        BufferHandle unpacked = new BufferHandle();
        assertThat(unpacked.decode(bytes, 0, length)).isEqualTo(NntiResult.OK);
        UnsafeBuffer again = new UnsafeBuffer(new byte[length]);
        unpacked.encode(again, 0);
        assertThat(again).isEqualTo(bytes);
        for (int i = 1; i < length; i++) {
            assertThat(unpacked.decode(bytes, 0, i)).isEqualTo(NntiResult.EDECODE);
            assertThat(unpacked.isAbsent()).isTrue();
        }
        Random random = new Random(7);
        for (int i = 0; i < 10_000; i++) {
            bytes.putByte(random.nextInt(length), (byte) random.nextInt());
            NntiResult result = unpacked.decode(bytes, 0, length);
            assertThat(unpacked.isAbsent()).isEqualTo(result != NntiResult.OK);
        }
    }
}
