package dev.verbena.ofi;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.agent.Await;
import dev.verbena.memory.OffHeapMemories;
import dev.verbena.memory.OffHeapMemory;
import dev.verbena.ofi.transport.NeedsLibfabric;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/** The objects of libfabric, two endpoints in one process, provider tcp. */
@Timeout(60)
@ExtendWith(NeedsLibfabric.class)
class OfiObjectsTest {
    private static final int LENGTH = 4096;
    private static final long ALL =
            MemoryRegion.SEND
                    | MemoryRegion.RECEIVE
                    | MemoryRegion.REMOTE_READ
                    | MemoryRegion.REMOTE_WRITE;

    /** One endpoint with all that it needs. */
    private static final class Side implements AutoCloseable {
        final FabricInfo info =
                FabricInfo.first("tcp", "", "", FabricInfo.MESSAGES | FabricInfo.RMA);
        final Fabric fabric = Fabric.open(info);
        final Domain domain = fabric.domain(info);
        final AddressVector peers = domain.addressVector(4);
        final CompletionQueue queue = domain.completionQueue(64, true);
        final Counter counter = domain.counter();
        final Endpoint endpoint = domain.endpoint(queue, peers, counter);
        final OffHeapMemory memory = OffHeapMemories.allocate(LENGTH);
        final MemoryRegion region = domain.register(memory, ALL, 77, endpoint);
        final long[] ended = new long[Endpoint.CONTEXTS];

        void poll() {
            queue.poll(
                    (context, length, code) -> {
                        assertThat(code).isZero();
                        ended[(int) context] += 1 + length;
                    });
        }

        @Override
        public void close() {
            endpoint.close();
            region.close();
            memory.close();
            counter.close();
            queue.close();
            peers.close();
            domain.close();
            fabric.close();
            info.close();
            info.close();
        }
    }

    private static void until(String what, Side a, Side b, java.util.function.BooleanSupplier is) {
        Await.until(
                () -> what,
                () -> {
                    a.poll();
                    b.poll();
                    return is.getAsBoolean();
                });
    }

    @Test
    void shouldSendWriteAndReadBetweenTwoEndpoints() {
        try (Side a = new Side();
                Side b = new Side()) {
            long peer = a.peers.insert(b.endpoint.name());
            a.memory.buffer(0, 8).putLong(0, 42);
            assertThat(b.endpoint.receive(b.region, 64, 64, 9)).isZero();
            until("sent", a, b, () -> a.endpoint.send(a.region, 0, 8, peer, 1) == 0);
            until("received", a, b, () -> b.ended[9] > 0 && a.ended[1] > 0);
            assertThat(b.memory.buffer(64, 8).getLong(0)).isEqualTo(42);
            long at = b.region.remoteAddress();
            long key = b.region.key();
            until(
                    "write is taken",
                    a,
                    b,
                    () -> a.endpoint.write(a.region, 0, 8, peer, at + 512, key, 2) == 0);
            until("written", a, b, () -> a.ended[2] > 0);
            assertThat(b.memory.buffer(512, 8).getLong(0)).isEqualTo(42);
            until(
                    "read is taken",
                    a,
                    b,
                    () -> a.endpoint.read(a.region, 256, 8, peer, at + 512, key, 3) == 0);
            until("read", a, b, () -> a.ended[3] > 0);
            assertThat(a.memory.buffer(256, 8).getLong(0)).isEqualTo(42);
            assertThat(a.counter.value()).isPositive();
        }
    }

    @Test
    void shouldRefuseWrongArgumentsAndUseAfterClose() {
        Side a = new Side();
        assertThatThrownBy(() -> a.endpoint.send(a.region, LENGTH, 1, 0, 1))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("outside");
        assertThatThrownBy(() -> a.endpoint.send(a.region, Long.MAX_VALUE, 8, 0, 1))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> a.endpoint.send(a.region, 0, 8, 0, Endpoint.CONTEXTS))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> a.endpoint.send(a.region, 0, 8, 0, 1))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("peer 0");
        assertThat(a.endpoint.receive(a.region, 0, 8, 4)).isZero();
        assertThatThrownBy(() -> a.endpoint.receive(a.region, 0, 8, 4))
                .isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> a.region.close())
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("under way");
        assertThatThrownBy(() -> a.domain.endpoint(a.queue, a.peers, null))
                .isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> a.domain.close()).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> a.domain.register(a.memory, 1L << 60, 1, null))
                .isInstanceOf(IllegalArgumentException.class);
        a.close();
        a.endpoint.close();
        assertThatThrownBy(() -> a.queue.poll((context, length, code) -> {}))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("closed");
        assertThatThrownBy(() -> a.endpoint.name()).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> a.region.key()).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> a.info.provider()).isInstanceOf(IllegalStateException.class);
    }

    /** A completion may be polled before the call that posted its operation returns. */
    @Test
    void shouldKnowWhatIsUnderWayWhenAnotherThreadPolls() throws InterruptedException {
        int count = 5_000;
        try (Side a = new Side();
                Side b = new Side()) {
            long peer = a.peers.insert(b.endpoint.name());
            assertThat(b.endpoint.receive(b.region, 0, 8, 2)).isZero();
            AtomicInteger sent = new AtomicInteger();
            AtomicReference<Throwable> failure = new AtomicReference<>();
            Thread sender = new Thread(() -> send(a, peer, count, sent));
            sender.setUncaughtExceptionHandler((thread, e) -> failure.set(e));
            sender.start();
            Await.until(
                    () -> "all sent; " + sent + ", " + failure,
                    () -> {
                        a.queue.poll((context, length, code) -> sent.incrementAndGet());
                        b.queue.poll(
                                (context, length, code) -> b.endpoint.receive(b.region, 0, 8, 2));
                        return sent.get() == count || failure.get() != null;
                    });
            sender.join();
            assertThat(failure.get()).isNull();
            a.endpoint.close();
            a.region.close();
        }
    }

    private static void send(Side a, long peer, int count, AtomicInteger sent) {
        for (int i = 0; i < count; i++) {
            while (a.endpoint.send(a.region, 0, 8, peer, 1) != 0) {
                Thread.onSpinWait();
            }
            while (sent.get() <= i) {
                Thread.onSpinWait();
            }
        }
    }

    @Test
    void shouldKeepThePsmLibrariesFromSignalHandlersAndFiles() throws Exception {
        OfiLibrary.version();
        for (String variable : new String[] {"HFI_NO_BACKTRACE", "IPATH_NO_BACKTRACE"}) {
            // The environment of a child is that of C, not Java's copy from the start.
            Process child = new ProcessBuilder("printenv", variable).start();
            assertThat(new String(child.getInputStream().readAllBytes(), US_ASCII).trim())
                    .isNotEmpty();
        }
    }

    @Test
    void shouldSayThatNothingFitsByAnEmptyList() {
        assertThat(FabricInfo.list("nonesuch", "", "", FabricInfo.MESSAGES)).isEmpty();
        assertThat(OfiLibrary.version()).matches("[1-9]\\.[0-9]+");
    }
}
