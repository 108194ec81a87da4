package dev.verbena.dart;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.memory.RegisteredRegion;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** However many messages pass, neither heap nor memory outside of it grows. */
@Timeout(180)
public abstract class DartFlatMemoryContract {
    private static final int WARM_UP = 20_000;
    private static final int COUNT = 100_000;
    private static final long HEAP_MAX = 1 << 20;

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
}
