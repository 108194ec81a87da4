package dev.verbena.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.memory.OffHeapMemories;
import dev.verbena.memory.OffHeapMemory;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Closing while another thread posts or polls, over the recording libibverbs, which frees what is
 * destroyed and copies inline bytes: what comes too late would touch freed memory.
 */
@Timeout(120)
class VerbsRaceTest {
    private static final int ROUNDS = 60;

    private final StubPair pair = new StubPair(QueuePairType.RC);
    private final VerbsStub stub = pair.stub;

    @AfterEach
    void close() {
        pair.close();
    }

    /** Closes as soon as that is allowed. */
    private static void closeWhenAllowed(AutoCloseable object, Thread user) throws Exception {
        while (true) {
            try {
                object.close();
                return;
            } catch (IllegalStateException e) {
                assertThat(user.isAlive() || !(object instanceof QueuePair)).isTrue();
                Thread.yield();
            }
        }
    }

    private static Thread started(AtomicReference<Throwable> problem, Runnable action) {
        Thread thread = new Thread(action);
        thread.setUncaughtExceptionHandler((t, e) -> problem.set(e));
        thread.start();
        return thread;
    }

    @Test
    void shouldNotReadInlineBytesOfARegionThatIsBeingClosed() throws Exception {
        QueuePairContext context =
                new QueuePairContext()
                        .completions(pair.completions)
                        .inlineMax(64)
                        .operations(SendOperations.SEND);
        AtomicReference<Throwable> problem = new AtomicReference<>();
        for (int round = 0; round < ROUNDS; round++) {
            OffHeapMemory memory = OffHeapMemories.allocate(1 << 20);
            MemoryRegion region = pair.domain.register(memory, Access.LOCAL_WRITE);
            QueuePair queue = pair.domain.createQueuePair(context);
            Thread poster = started(problem, () -> sendUntilClosed(queue, region));
            Thread.yield();
            closeWhenAllowed(region, poster);
            memory.close();
            poster.join(60_000);
            assertThat(poster.isAlive()).isFalse();
            assertThat(problem.get()).isNull();
            queue.close();
        }
    }

    private void sendUntilClosed(QueuePair queue, MemoryRegion region) {
        try (SendBuilder builder = queue.newBuilder(1)) {
            while (true) {
                SendRequestFlyweight next = builder.start().request().inline(true);
                try {
                    next.segment(region, 0, 64).signalled(true);
                } catch (IllegalStateException e) {
                    return; // closed before it was set
                }
                int posted = builder.complete();
                if (posted == Post.REGION_CLOSED) {
                    return;
                }
                assertThat(posted).isEqualTo(1);
                stub.complete(CompletionStatus.SUCCESS, 0, stub.postedId(0));
                assertThat(pair.completions.poll(1)).isEqualTo(1);
            }
        } finally {
            pair.completions.handOver();
            queue.handOver();
        }
    }

    @Test
    void shouldNotPostToAQueuePairThatIsBeingClosed() throws Exception {
        AtomicReference<Throwable> problem = new AtomicReference<>();
        for (int round = 0; round < ROUNDS; round++) {
            QueuePair queue =
                    pair.domain.createQueuePair(
                            new QueuePairContext().completions(pair.completions));
            Thread poster = started(problem, () -> postUntilClosed(queue));
            closeWhenAllowed(queue, poster);
            poster.join(60_000);
            assertThat(poster.isAlive()).isFalse();
            assertThat(problem.get()).isNull();
        }
    }

    private static void postUntilClosed(QueuePair queue) {
        SendRequests sends;
        try {
            sends = queue.newSends(1);
        } catch (IllegalStateException e) {
            return; // closed before it began
        }
        try (sends) {
            sends.at(0).segments(0).send();
            while (true) {
                int posted;
                try {
                    posted = queue.post(sends.at(0));
                    queue.handOver();
                } catch (IllegalStateException e) {
                    continue; // the other one is closing it just now
                }
                if (posted == Post.CLOSED) {
                    return;
                }
                assertThat(posted).isIn(1, Post.BACK_PRESSURED);
            }
        }
    }

    @Test
    void shouldNotPollAQueueThatIsBeingClosed() throws Exception {
        AtomicReference<Throwable> problem = new AtomicReference<>();
        for (int round = 0; round < ROUNDS; round++) {
            CompletionQueue queue = stub.device.createCompletionQueue(4);
            Thread poller =
                    started(
                            problem,
                            () -> {
                                int polled = 0;
                                while (polled != CompletionQueue.CLOSED) {
                                    try {
                                        polled = queue.poll(16);
                                        queue.handOver();
                                    } catch (IllegalStateException e) {
                                        polled = 0; // the other one is closing it just now
                                    }
                                }
                            });
            closeWhenAllowed(queue, poller);
            poller.join(60_000);
            assertThat(poller.isAlive()).isFalse();
            assertThat(problem.get()).isNull();
        }
    }
}
