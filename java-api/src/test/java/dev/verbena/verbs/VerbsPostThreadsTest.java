package dev.verbena.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.agent.Await;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Who may post, poll and close while other threads do. */
@Timeout(120)
class VerbsPostThreadsTest {
    private final StubPair pair = new StubPair(QueuePairType.RC);
    private final VerbsStub stub = pair.stub;
    private final QueuePair queue = pair.queue;
    private final MemoryRegion region = pair.region;
    private final SendRequests sends = queue.newSends(8);

    @AfterEach
    void close() {
        sends.close();
        pair.close();
    }

    @Test
    void shouldRefuseToCloseWhileAThreadWaitsForEvents() throws Exception {
        CompletionChannel channel = stub.device.createCompletionChannel();
        Thread waiter = new Thread(() -> channel.await(3_000_000_000L));
        waiter.start();
        Await.until("it waits", () -> channel.waiting() == 1);
        assertThatThrownBy(channel::close).hasMessageContaining("a thread waits");
        assertThat(channel.isClosed()).isFalse();
        waiter.join();
        channel.close();
    }

    @Test
    void shouldKeepAQueueToOneThreadUntilItIsHandedOver() throws Exception {
        sends.at(0).segments(0);
        assertThat(queue.post(sends.at(0))).isEqualTo(1);
        AtomicReference<Object> answer = new AtomicReference<>();
        Runnable post =
                () -> {
                    try {
                        answer.set(queue.post(sends.at(0)));
                    } catch (IllegalStateException e) {
                        answer.set(e.getMessage());
                    }
                };
        run(post);
        assertThat((String) answer.get()).contains("is used by thread", "handOver()");
        queue.handOver();
        run(post);
        assertThat((String) answer.get()).contains("work requests is used by thread");
        sends.handOver();
        run(post);
        assertThat(answer.get()).isEqualTo(1);
        // The other thread has ended, so this one may go on.
        assertThat(queue.post(sends.at(0))).isEqualTo(1);
    }

    @Test
    void shouldNotEditRequestsOfAnotherThread() throws Exception {
        SendRequestFlyweight request = sends.at(0).segments(0);
        AtomicReference<String> refused = new AtomicReference<>("");
        List<Runnable> edits =
                List.of(
                        () -> request.send(),
                        () -> request.remoteAddress(1),
                        () -> request.signalled(true),
                        () -> request.segment(region, 0, 8));
        for (Runnable edit : edits) {
            refused.set("");
            run(
                    () -> {
                        try {
                            edit.run();
                        } catch (IllegalStateException e) {
                            refused.set(e.getMessage());
                        }
                    });
            assertThat(refused.get()).contains("work requests is used by thread");
        }
        sends.handOver();
        run(edits.get(3));
        assertThat(request.length()).isEqualTo(8);
    }

    private static void run(Runnable action) throws InterruptedException {
        Thread thread = new Thread(action);
        thread.start();
        thread.join(60_000);
        assertThat(thread.isAlive()).isFalse();
    }
}
