package dev.verbena.dart;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.memory.RegisteredRegion;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** However many messages pass, neither heap nor memory outside of it grows. */
@Timeout(180)
public abstract class DartFlatMemoryContract {
    private static final int WARM_UP = 20_000;
    // --long: 100,000 messages instead of 30,000
    private static final int COUNT = Boolean.getBoolean("verbena.long") ? 100_000 : 30_000;
    private static final long HEAP_MAX = 1 << 20;
    private static final long SECOND = 1_000_000_000L;

    /** Growth of a process that leaks nothing: code that is compiled late, pages of stacks. */
    private static final long RESIDENT_MAX = 8 << 20;

    private static final long WINDOW = 1 << 20;
    private static final int SENDERS = 6;

    /** Less than the silence after which a connection counts as dead. */
    private static final long PAUSE_NS = 4 * SECOND;

    private final AtomicLong received = new AtomicLong();

    /** For subclasses in other modules. */
    protected DartFlatMemoryContract() {}

    /** URI scheme of the provider. */
    protected abstract String scheme();

    /** What is reachable, bytes: the least of several collections. */
    private static long heap() {
        long least = Long.MAX_VALUE;
        for (int i = 0; i < 5; i++) {
            System.gc();
            Runtime runtime = Runtime.getRuntime();
            least = Math.min(least, runtime.totalMemory() - runtime.freeMemory());
        }
        return least;
    }

    private static long direct() {
        return ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class).stream()
                .mapToLong(BufferPoolMXBean::getMemoryUsed)
                .sum();
    }

    private void send(
            DartClient client, RegisteredRegion region, DartMetadata metadata, int count) {
        for (int i = 0; i < count; i++) {
            // Mostly short ones, now and then one that takes several buffers.
            int length = i % 1000 == 0 ? 200_000 : i % 500;
            client.send(region, 0, length, metadata.step(i), i).release();
        }
        client.flush(DartWorld.LIMIT_NS);
    }

    @Test
    @Tag("dart-D36")
    void shouldNotGrowHoweverManyMessagesPass() throws Exception {
        try (DartWorld world = new DartWorld(scheme())) {
            world.receive(world.receiverContext().handler(message -> received.incrementAndGet()));
            DartServer master = world.master(c -> c.bufferCount(8));
            DartClient client = world.client(0, c -> c.maxInFlight(8).pooledTickets(true));
            RegisteredRegion region = client.allocate(200_000);
            DartMetadata metadata = new DartMetadata().name("flat");
            send(client, region, metadata, WARM_UP);
            long heapBefore = heap();
            long directBefore = direct();
            send(client, region, metadata, COUNT);
            assertThat(received.get()).isEqualTo(WARM_UP + COUNT);
            assertThat(heap() - heapBefore).as("growth of the heap").isLessThan(HEAP_MAX);
            assertThat(direct()).as("direct memory").isLessThanOrEqualTo(directBefore);
            assertThat(master.statistics().emptyCount()).isEqualTo(8);
        }
    }

    @Test
    @Tag("dart-D36")
    void shouldStayResidentInTheSameMemoryHoweverManyMessagesPass() throws Exception {
        try (DartWorld world = new DartWorld(scheme())) {
            world.receive(world.receiverContext().handler(message -> received.incrementAndGet()));
            try (DartNode server = startMaster(world)) {
                DartClient client = world.client(0, c -> c.maxInFlight(8).pooledTickets(true));
                RegisteredRegion region = client.allocate(200_000);
                DartMetadata metadata = new DartMetadata().name("flat");
                send(client, region, metadata, WARM_UP);
                long before = server.residentBytes();
                send(client, region, metadata, COUNT);
                long growth = server.residentBytes() - before;
                assertThat(received.get()).isEqualTo(WARM_UP + COUNT);
                assertThat(growth).as("growth of the server").isLessThan(RESIDENT_MAX);
                end(world, server);
            }
        }
    }

    /** What a server has in memory, what it streamed of it, and for how long nobody reads. */
    @Test
    @Tag("dart-D36")
    void shouldStayFlatWithinTheWindowWhileTheReceiverIsPaused() throws Exception {
        CountDownLatch go = new CountDownLatch(1);
        try (DartWorld world = new DartWorld(scheme())) {
            world.receive(world.receiverContext().windowMax(WINDOW).handler(message -> pause(go)));
            try (DartNode server = startMaster(world)) {
                // Each waits for its messages to be read, and all buffers are taken: three times
                // the window.
                List<DartClient> senders = new ArrayList<>();
                for (int rank = 0; rank < SENDERS; rank++) {
                    senders.add(world.client(rank, c -> c.maxInFlight(8)));
                }
                UnsafeBuffer data = DartWorld.bytes(60_000, 1);
                long sent = sendUntil(senders, data, 2 * SECOND);
                long before = server.residentBytes();
                sent += sendUntil(senders, data, PAUSE_NS);
                assertThat(server.residentBytes() - before)
                        .as("growth of the paused server")
                        .isLessThan(RESIDENT_MAX);
                // The first part of the message at which the handler stands may be acknowledged.
                assertThat(server.streamedBytes())
                        .as("not acknowledged")
                        .isBetween(WINDOW / 2, WINDOW + data.capacity());
                assertThat(senders).allMatch(DartClient::wouldBlock);
                go.countDown();
                for (DartClient client : senders) {
                    client.flush(DartWorld.LIMIT_NS);
                }
                assertThat(received.get()).isEqualTo(sent);
                end(world, server);
            }
        } finally {
            go.countDown();
        }
    }

    private static DartNode startMaster(DartWorld world) throws Exception {
        DartNode server = DartNode.start(world, "master", "buffers=48", DartNode.FIXED_HEAP);
        server.await("ready");
        return server;
    }

    private static void end(DartWorld world, DartNode server) throws Exception {
        world.clients.forEach(DartClient::close);
        world.clients.clear();
        assertThat(server.end()).isZero();
        DartNode.sweep(world);
    }

    /** Tries all the time; what was sent. */
    private static long sendUntil(List<DartClient> senders, UnsafeBuffer data, long timeNs)
            throws InterruptedException {
        long sent = 0;
        for (long end = System.nanoTime() + timeNs; System.nanoTime() - end < 0; ) {
            for (DartClient client : senders) {
                if (!client.wouldBlock()) {
                    client.sendCopy(data, 0, data.capacity(), null, 1);
                    sent++;
                }
                client.progress();
            }
            TimeUnit.MILLISECONDS.sleep(1);
        }
        return sent;
    }

    private void pause(CountDownLatch go) {
        try {
            go.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        received.incrementAndGet();
    }
}
