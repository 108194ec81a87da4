package dev.verbena.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Queues that the driver does not lock are kept to one thread, all of them together. */
@Timeout(120)
class ThreadDomainTest {
    private final StubPair pair = new StubPair(QueuePairType.RC);
    private final VerbsStub stub = pair.stub;
    private final ThreadDomain threads = stub.device.allocateThreadDomain();
    private final ProtectionDomain parent = pair.domain.allocateParentDomain(threads);
    private final CompletionQueue completions =
            stub.device.createCompletionQueue(new CompletionQueueContext().parentDomain(parent));

    @AfterEach
    void close() {
        completions.close();
        if (!parent.isClosed()) {
            parent.close();
        }
        threads.close();
        pair.close();
    }

    private QueuePair queuePair(ProtectionDomain domain, CompletionQueue queue) {
        return domain.createQueuePair(new QueuePairContext().completions(queue));
    }

    /** What another thread gets, which has ended then. */
    private static String elsewhere(Runnable action) throws InterruptedException {
        AtomicReference<String> answer = new AtomicReference<>("done");
        Thread thread =
                new Thread(
                        () -> {
                            try {
                                action.run();
                            } catch (IllegalStateException e) {
                                answer.set(e.getMessage());
                            }
                        });
        thread.start();
        thread.join(60_000);
        assertThat(thread.isAlive()).isFalse();
        return answer.get();
    }

    @Test
    void shouldKeepAllQueuesOfAThreadDomainToOneThread() throws Exception {
        try (SharedReceiveQueue shared = parent.createSharedReceiveQueue(4, 1);
                ReceiveRequests receives = shared.newReceives(1);
                QueuePair first = queuePair(parent, completions);
                QueuePair second = queuePair(parent, completions);
                QueuePair plain = queuePair(pair.domain, pair.completions);
                SendRequests sends = first.newSends(1)) {
            assertThat(first.post(sends.at(0))).isEqualTo(1);
            String used = "a queue of a thread domain is used by thread";
            assertThat(elsewhere(() -> completions.poll(1))).contains(used);
            assertThat(elsewhere(() -> shared.post(receives, 0, 1))).contains(used);
            assertThat(elsewhere(second::toReset)).contains(used);
            assertThat(elsewhere(second::close)).contains(used);
            assertThat(elsewhere(plain::toReset)).isEqualTo("done");
            second.handOver();
            assertThat(elsewhere(() -> completions.poll(1))).isEqualTo("done");
        }
    }

    @Test
    void shouldStayWithItsThreadWhenOneOfItsQueuesIsClosed() throws Exception {
        QueuePair first = queuePair(parent, completions);
        assertThat(completions.poll(1)).isZero();
        first.close();
        assertThat(first.isClosed()).isTrue();
        assertThat(elsewhere(() -> completions.poll(1))).contains("is used by thread");
        assertThat(completions.poll(1)).isZero();
    }

    @Test
    void shouldNotRemoveCompletionsWhileAnotherThreadPollsWithoutALock() throws Exception {
        try (CompletionQueue alone =
                stub.device.createCompletionQueue(
                        new CompletionQueueContext().singleThreaded(true))) {
            QueuePair queue = queuePair(pair.domain, alone);
            CountDownLatch isPolled = new CountDownLatch(1);
            CountDownLatch mayEnd = new CountDownLatch(1);
            Thread poller =
                    new Thread(
                            () -> {
                                alone.poll(1);
                                pair.completions.poll(1);
                                isPolled.countDown();
                                try {
                                    mayEnd.await(60, TimeUnit.SECONDS);
                                } catch (InterruptedException e) {
                                    Thread.currentThread().interrupt();
                                }
                            });
            poller.start();
            assertThat(isPolled.await(60, TimeUnit.SECONDS)).isTrue();
            try {
                assertThatThrownBy(queue::close)
                        .isInstanceOf(IllegalStateException.class)
                        .hasMessageContaining("a completion queue is used by thread");
                assertThatThrownBy(queue::toReset).isInstanceOf(IllegalStateException.class);
                assertThat(queue.isClosed()).isFalse();
                pair.queue.toReset(); // its completion queue is locked by the driver
            } finally {
                mayEnd.countDown();
                poller.join(60_000);
            }
            queue.toReset();
            queue.close();
        }
    }

    @Test
    void shouldRefuseSharedReceivesThatAnotherThreadMayGiveBack() {
        try (SharedReceiveQueue shared = parent.createSharedReceiveQueue(4, 1)) {
            int before = stub.openObjects();
            QueuePairContext context = new QueuePairContext().sharedReceives(shared);
            assertThatThrownBy(
                            () ->
                                    parent.createQueuePair(
                                            context.completions(completions, pair.completions)))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("CompletionQueueContext.parentDomain");
            assertThat(stub.openObjects()).isEqualTo(before);
            parent.createQueuePair(context.completions(pair.completions, completions)).close();
        }
    }

    @Test
    void shouldMakeNothingOfAClosedParentDomain() {
        ProtectionDomain plain = pair.domain.allocateParentDomain(null);
        plain.close();
        assertThatThrownBy(() -> plain.allocateParentDomain(null))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("closed: parent domain");
    }
}
