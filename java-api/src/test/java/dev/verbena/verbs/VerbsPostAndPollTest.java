package dev.verbena.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.AllocationMeter;
import dev.verbena.rdma.calls.VerbsLayout;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Posting and polling in one call, over the recording libibverbs. */
@Timeout(120)
class VerbsPostAndPollTest {
    private static final int ENOMEM = 12;
    private static final int EINVAL = 22;
    private static final int ROUNDS = 20_000;

    private final StubPair pair = new StubPair(QueuePairType.RC);
    private final VerbsStub stub = pair.stub;
    private final QueuePair queue = pair.queue;
    private final SendRequests sends = queue.newSends(8);

    @AfterEach
    void close() {
        sends.close();
        pair.close();
    }

    private SendRequestFlyweight request(int index, long id) {
        return sends.at(index).id(id).segment(pair.region, 8, 16).write(77, 5).signalled(true);
    }

    @Test
    void shouldPostAndTakeCompletionsAtOnce() {
        assertThat(queue.postAndPoll(request(0, 501), pair.completions, 4)).isEqualTo(1);
        assertThat(pair.completions.polled()).isZero();
        assertThat(stub.posted()).isEqualTo(1);
        assertThat(stub.requestLong(0, VerbsLayout.SEND_WR_WR_RDMA_REMOTE_ADDR)).isEqualTo(77);
        stub.complete(CompletionStatus.SUCCESS, 0, stub.postedId(0));
        assertThat(queue.postAndPoll(request(1, 502), pair.completions, 4)).isEqualTo(1);
        assertThat(pair.completions.polled()).isEqualTo(1);
        assertThat(pair.completions.completion(0).id()).isEqualTo(501);
        assertThat(queue.sendRoom()).isEqualTo(3);
    }

    @Test
    void shouldTakeCompletionsWhenTheQueueIsFull() {
        for (int i = 0; i < 4; i++) {
            assertThat(queue.postAndPoll(request(0, i), pair.completions, 4)).isEqualTo(1);
        }
        stub.complete(CompletionStatus.SUCCESS, 0, stub.postedId(0));
        assertThat(queue.postAndPoll(request(0, 9), pair.completions, 4))
                .isEqualTo(Post.BACK_PRESSURED);
        assertThat(pair.completions.polled()).isEqualTo(1);
        assertThat(queue.postAndPoll(request(0, 9), pair.completions, 4)).isEqualTo(1);
    }

    @Test
    void shouldTellRefusalsAndTakeCompletionsAllTheSame() {
        queue.post(request(0, 1));
        stub.complete(CompletionStatus.SUCCESS, 0, stub.postedId(0));
        stub.refuse(0, EINVAL);
        assertThat(queue.postAndPoll(request(0, 2), pair.completions, 4)).isEqualTo(Post.REFUSED);
        assertThat(queue.refusal()).isEqualTo(EINVAL);
        assertThat(pair.completions.polled()).isEqualTo(1);
        stub.refuse(0, ENOMEM);
        assertThat(queue.postAndPoll(request(0, 3), pair.completions, 4))
                .isEqualTo(Post.BACK_PRESSURED);
        assertThat(queue.sendRoom()).isEqualTo(4);
    }

    @Test
    void shouldCheckAsTheTwoCallsDo() {
        SendRequestFlyweight request = request(0, 1);
        assertThatThrownBy(() -> queue.postAndPoll(request, pair.completions, 0))
                .isInstanceOf(IllegalArgumentException.class);
        try (CompletionQueue closed = stub.device.createCompletionQueue(4)) {
            closed.close();
            assertThat(queue.postAndPoll(request, closed, 1)).isEqualTo(1);
            assertThat(closed.polled()).isZero();
        }
        queue.toReset();
        SendRequests gone = queue.newSends(1);
        SendRequestFlyweight last = gone.at(0);
        gone.close();
        assertThat(queue.postAndPoll(last, pair.completions, 1)).isEqualTo(Post.CLOSED);
        assertThat(stub.posted()).isEqualTo(1);
    }

    @Test
    void shouldPostAloneWhatWasPostedInAChain() {
        for (int i = 0; i < 3; i++) {
            request(i, i);
        }
        assertThat(queue.post(sends, 0, 3)).isEqualTo(3);
        queue.toReset();
        assertThat(queue.postAndPoll(sends.at(0), pair.completions, 1)).isEqualTo(1);
        assertThat(stub.posted()).isEqualTo(1);
        assertThat(queue.post(sends.at(1))).isEqualTo(1);
        assertThat(stub.posted()).isEqualTo(1);
    }

    @Test
    void shouldCheckAgainWhatWasChangedSinceItWasPosted() {
        SendRequestFlyweight request = request(0, 1);
        assertThat(queue.postAndPoll(request, pair.completions, 1)).isEqualTo(1);
        request.segment(1, pair.region, 0, 8).segments(2);
        assertThat(queue.postAndPoll(request, pair.completions, 1)).isEqualTo(1);
        assertThat(stub.requestInt(0, VerbsLayout.SEND_WR_NUM_SGE)).isEqualTo(2);
        request.segment(pair.region, 0, 33).inline(true);
        assertThat(queue.postAndPoll(request, pair.completions, 1)).isEqualTo(Post.TOO_LONG);
        request.inline(false);
        assertThat(queue.postAndPoll(request, pair.completions, 1)).isEqualTo(1);
        queue.toReset();
        pair.region.close();
        assertThat(queue.postAndPoll(request, pair.completions, 1)).isEqualTo(Post.REGION_CLOSED);
        assertThat(queue.post(request)).isEqualTo(Post.REGION_CLOSED);
        sends.close();
        assertThat(queue.postAndPoll(request, pair.completions, 1)).isEqualTo(Post.CLOSED);
        assertThat(queue.post(request)).isEqualTo(Post.CLOSED);
    }

    @Test
    void shouldKeepTheRegionOfARequestThatIsPostedAgain() {
        SendRequestFlyweight request = request(0, 1);
        assertThat(queue.postAndPoll(request, pair.completions, 1)).isEqualTo(1);
        stub.complete(CompletionStatus.SUCCESS, 0, stub.postedId(0));
        assertThat(queue.postAndPoll(request.id(2), pair.completions, 1)).isEqualTo(1);
        assertThatThrownBy(pair.region::close).isInstanceOf(IllegalStateException.class);
        stub.complete(CompletionStatus.SUCCESS, 0, stub.postedId(0));
        assertThat(pair.completions.poll(1)).isEqualTo(1);
        assertThat(pair.completions.completion(0).id()).isEqualTo(2);
        pair.region.close();
    }

    @Test
    void shouldBePostedToAnotherQueuePairToo() throws Exception {
        SendRequestFlyweight request = request(0, 1);
        assertThat(queue.postAndPoll(request, pair.completions, 1)).isEqualTo(1);
        QueuePairContext context = new QueuePairContext().completions(pair.completions);
        try (QueuePair other = pair.domain.createQueuePair(context.segmentsMax(3, 1));
                QueuePair few = pair.domain.createQueuePair(context.segmentsMax(1, 1))) {
            assertThat(other.postAndPoll(request, pair.completions, 1)).isEqualTo(1);
            assertThat(queue.postAndPoll(request, pair.completions, 1)).isEqualTo(1);
            assertThatThrownBy(() -> few.postAndPoll(request, pair.completions, 1))
                    .isInstanceOf(IllegalArgumentException.class);
        }
        AtomicReference<Throwable> thrown = new AtomicReference<>();
        Thread stranger =
                new Thread(
                        () -> {
                            try {
                                queue.postAndPoll(request, pair.completions, 1);
                            } catch (IllegalStateException e) {
                                thrown.set(e);
                            }
                        });
        stranger.start();
        stranger.join();
        assertThat(thrown.get()).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void shouldAllocateNothing() {
        // The first takes one completion less.
        run();
        long[] sum = new long[1];
        long runs = AllocationMeter.requireNone(() -> sum[0] += run());
        assertThat(sum[0]).isEqualTo(runs * ROUNDS);
    }

    private final long[] ids = new long[1];

    /** Each takes the completion of the one before. */
    private int run() {
        int completed = 0;
        for (int i = 0; i < ROUNDS; i++) {
            queue.postAndPoll(sends.at(0).id(i).signalled(true), pair.completions, 1);
            completed += pair.completions.polled();
            ids[0] = stub.postedId(0);
            stub.complete(CompletionStatus.SUCCESS, 0, ids);
        }
        return completed;
    }
}
