package dev.verbena.nessie.nnti;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.memory.OffHeapMemories;
import dev.verbena.transport.Transport;
import java.net.URI;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * NNTI over a transport, both ends on one thread: one small subclass for each provider names the
 * scheme.
 */
public abstract class NntiContract extends NntiMessageContract {
    /** For subclasses in other modules. */
    protected NntiContract() {}

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
}
