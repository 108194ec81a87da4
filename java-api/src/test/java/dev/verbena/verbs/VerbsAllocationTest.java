package dev.verbena.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import dev.verbena.rdma.calls.VerbsLayout;
import java.lang.management.ManagementFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Editing, posting and polling allocate nothing: 0 bytes in 100,000 rounds. */
@Timeout(120)
class VerbsAllocationTest {
    private static final int ROUNDS = 100_000;

    @Test
    void shouldAllocateNothingWhilePostingAndPolling() {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        try (StubPair pair = new StubPair(QueuePairType.RC);
                SendRequests sends = pair.queue.newSends(2);
                ReceiveRequests receives = pair.queue.newReceives(1)) {
            run(pair, sends, receives);
            run(pair, sends, receives);
            // The least of three: JDK 25 shows a few dozen bytes once in a while for loops that
            // allocate nothing; what an operation allocates shows each time.
            long allocated = Long.MAX_VALUE;
            long sum = 0;
            for (int run = 0; run < 3; run++) {
                long before = threads.getCurrentThreadAllocatedBytes();
                sum += run(pair, sends, receives);
                allocated = Math.min(allocated, threads.getCurrentThreadAllocatedBytes() - before);
            }
            assertThat(sum).isEqualTo(3L * ROUNDS * 3);
            assertThat(allocated).isZero();
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
