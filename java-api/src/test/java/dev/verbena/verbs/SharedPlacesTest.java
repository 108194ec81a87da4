package dev.verbena.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Shared receives whose places a NIC dropped, and windows that two threads bind. */
@Timeout(120)
class SharedPlacesTest {
    private static final int CAPACITY = 8;
    private static final int ENOMEM = 12;

    private static QueuePair pair(StubPair base, SharedReceiveQueue shared) {
        return base.domain.createQueuePair(
                new QueuePairContext().completions(base.completions).sharedReceives(shared));
    }

    /** All that the queue takes; the stub takes everything. */
    private static int fill(SharedReceiveQueue shared, ReceiveRequests receives) {
        int taken = 0;
        int result = 1;
        while (result == 1) {
            result = shared.post(receives, 0, 1);
            taken += result == 1 ? 1 : 0;
        }
        assertThat(result).isIn(Post.BACK_PRESSURED, Post.PLACES_LOST);
        return taken;
    }

    @Test
    void shouldGoOnWhereTheCardDroppedPlacesAndSayWhenThereAreNoneLeft() {
        try (StubPair base = new StubPair(QueuePairType.RC);
                SharedReceiveQueue shared = base.domain.createSharedReceiveQueue(CAPACITY, 1);
                ReceiveRequests receives = shared.newReceives(1)) {
            receives.set(0, 1, base.region, 0, 64);
            for (int i = 0; i < shared.capacity(); i++) {
                assertThat(shared.post(receives, 0, 1)).isEqualTo(1);
            }
            // The NIC's queue is full: nothing was dropped.
            base.stub.refuse(0, ENOMEM);
            assertThat(shared.post(receives, 0, 1)).isEqualTo(Post.BACK_PRESSURED);
            pair(base, shared).close();
            for (int i = 0; i < 3 * CAPACITY; i++) {
                assertThat(shared.post(receives, 0, 1)).as("receive %d", i).isEqualTo(1);
            }
            fill(shared, receives);
            assertThat(shared.post(receives, 0, 1)).isEqualTo(Post.PLACES_LOST);
            assertThat(Post.name(Post.PLACES_LOST)).contains("make another queue");
            // What does complete gives its place back all the same.
            base.stub.complete(0, 128, base.stub.postedId(0));
            assertThat(base.completions.poll(1)).isEqualTo(1);
            assertThat(fill(shared, receives)).isEqualTo(1);
        }
    }

    @Test
    void shouldNotBlameClosedQueuePairsWhereThereAreNone() {
        try (StubPair base = new StubPair(QueuePairType.RC);
                SharedReceiveQueue shared = base.domain.createSharedReceiveQueue(CAPACITY, 1);
                ReceiveRequests receives = shared.newReceives(1);
                QueuePair open = pair(base, shared)) {
            receives.set(0, 1, base.region, 0, 64);
            fill(shared, receives);
            assertThat(shared.post(receives, 0, 1)).isEqualTo(Post.BACK_PRESSURED);
            assertThat(open.isClosed()).isFalse();
        }
    }

    @Test
    void shouldLetOneThreadBindAWindow() throws Exception {
        try (StubPair pair = new StubPair(QueuePairType.RC);
                MemoryRegion region =
                        pair.domain.register(pair.memory, Access.REMOTE_ALL | Access.WINDOW_BIND);
                MemoryWindow window = pair.domain.allocateMemoryWindow(MemoryWindowType.TYPE_2);
                SendRequests sends = pair.queue.newSends(1)) {
            SendRequestFlyweight bind = sends.at(0);
            bind.bindWindow(window, window.nextKey(), region, 0, 64, Access.REMOTE_READ);
            assertThat(pair.queue.post(bind)).isEqualTo(1);
            assertThat(elsewhere(pair, window, region)).isEqualTo(Post.WINDOW_ELSEWHERE);
            assertThat(Post.name(Post.WINDOW_ELSEWHERE)).contains("handOver()");
            window.handOver();
            assertThat(elsewhere(pair, window, region)).isEqualTo(1);
            pair.queue.toReset();
        }
    }

    /** What another, living thread gets that binds it on a queue pair of its own. */
    private static int elsewhere(StubPair pair, MemoryWindow window, MemoryRegion region)
            throws Exception {
        try (QueuePair other =
                pair.domain.createQueuePair(
                        new QueuePairContext().completions(pair.completions).sendCapacity(4))) {
            CompletableFuture<Integer> result =
                    CompletableFuture.supplyAsync(
                            () -> {
                                try (SendRequests sends = other.newSends(1)) {
                                    SendRequestFlyweight bind = sends.at(0);
                                    int key = window.nextKey();
                                    bind.bindWindow(window, key, region, 0, 8, Access.REMOTE_READ);
                                    int answer = other.post(bind);
                                    other.handOver();
                                    return answer;
                                }
                            },
                            task -> new Thread(task, "elsewhere").start());
            return result.get(60, TimeUnit.SECONDS);
        }
    }
}
