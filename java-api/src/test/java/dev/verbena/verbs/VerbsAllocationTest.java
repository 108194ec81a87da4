package dev.verbena.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.AllocationMeter;
import dev.verbena.rdma.calls.VerbsLayout;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Editing, posting and polling allocate nothing: 0 bytes in 100,000 rounds. */
@Timeout(120)
class VerbsAllocationTest {
    private static final int ROUNDS = 100_000;

    @Test
    void shouldAllocateNothingWhilePostingAndPolling() {
        try (StubPair pair = new StubPair(QueuePairType.RC);
                SendRequests sends = pair.queue.newSends(2);
                ReceiveRequests receives = pair.queue.newReceives(1)) {
            long[] sum = new long[1];
            long runs = AllocationMeter.requireNone(() -> sum[0] += run(pair, sends, receives));
            assertThat(sum[0]).isEqualTo(3 * runs * ROUNDS);
        }
    }

    private static final long[] IDS = new long[3];

    private static long run(StubPair pair, SendRequests sends, ReceiveRequests receives) {
        long completed = 0;
        for (int i = 0; i < ROUNDS; i++) {
            sends.at(0).id(i).segment(pair.region, i & 1023, 64).write(i, 7).signalled(true);
            sends.at(1).id(i).segment(pair.region, 0, 8).fetchAdd(8, 7, 1).signalled(true);
            int taken = pair.queue.post(sends, 0, 2);
            IDS[0] = pair.stub.postedId(0);
            IDS[1] = pair.stub.postedId(1);
            taken += pair.queue.post(receives.set(0, i, pair.region, 0, 64), 0, 1);
            IDS[2] = pair.stub.requestLong(0, VerbsLayout.RECV_WR_WR_ID);
            pair.stub.complete(CompletionStatus.SUCCESS, 0, IDS);
            int count = pair.completions.poll(16);
            for (int c = 0; c < count; c++) {
                CompletionFlyweight completion = pair.completions.completion(c);
                completed += completion.isSuccess() && completion.id() == i ? 1 : 0;
            }
            completed += taken - 3;
        }
        return completed;
    }
}
