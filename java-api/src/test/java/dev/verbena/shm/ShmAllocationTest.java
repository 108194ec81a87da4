package dev.verbena.shm;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.AllocationMeter;
import dev.verbena.memory.RegisteredRegion;
import dev.verbena.memory.RemoteDescriptor;
import dev.verbena.transport.Status;
import dev.verbena.transport.TransferSum;
import dev.verbena.transport.Transport;
import dev.verbena.transport.TransportHandler;
import org.agrona.DirectBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Posting, polling and handling allocate nothing: 0 bytes in 100,000 rounds. */
@Timeout(120)
class ShmAllocationTest {
    private static final int ROUNDS = 100_000;

    /** Counts, and keeps nothing. */
    private static final class Counter implements TransportHandler {
        long completions;
        long bad;
        long messages;
        long notifies;
        long sum;

        @Override
        public void onCompletion(
                long connection, int operation, long context, int status, long value) {
            completions++;
            bad += status == Status.OK ? 0 : 1;
        }

        @Override
        public void onMessage(
                long connection,
                long context,
                DirectBuffer buffer,
                int offset,
                int length,
                long token) {
            messages++;
            sum += buffer.getLong(offset);
        }

        @Override
        public void onNotify(
                long connection, long context, int tag, long regionId, long offset, long length) {
            notifies++;
        }
    }

    @Test
    void shouldAllocateNothingWhilePostingAndPolling() {
        try (Pair pair = new Pair();
                RegisteredRegion source = pair.a.allocate(4096, 0);
                RegisteredRegion target = pair.b.allocate(4096, RemoteDescriptor.REMOTE_ALL)) {
            RemoteDescriptor descriptor =
                    target.describe(0, 4096, RemoteDescriptor.REMOTE_ALL, new RemoteDescriptor());
            Counter counter = new Counter();
            long runs =
                    AllocationMeter.requireNone(
                            () -> run(pair, source, descriptor, counter, ROUNDS));
            assertThat(counter.completions).isEqualTo(7 * runs * ROUNDS);
            assertThat(counter.bad).isZero();
            assertThat(counter.messages).isEqualTo(runs * ROUNDS);
            assertThat(counter.notifies).isEqualTo(runs * ROUNDS);
        }
    }

    @Test
    void shouldAllocateNothingWhileSummingUp() {
        int length = 16_384;
        int rounds = 10_000;
        try (Pair pair = new Pair();
                RegisteredRegion source = pair.a.allocate(length, 0);
                RegisteredRegion target = pair.b.allocate(length, RemoteDescriptor.REMOTE_ALL)) {
            RemoteDescriptor d =
                    target.describe(0, length, RemoteDescriptor.REMOTE_ALL, new RemoteDescriptor());
            Counter counter = new Counter();
            TransferSum sum = new TransferSum();
            Transport a = pair.a;
            long to = pair.fromA;
            long runs =
                    AllocationMeter.requireNone(
                            () -> {
                                for (int i = 0; i < rounds; i++) {
                                    int n = (i & 1) == 0 ? length : 1000;
                                    int refused = a.putSummed(to, source, 0, d, 0, n, sum, i, 0);
                                    counter.sum += sum.value();
                                    refused |= a.getSummed(to, source, 0, d, 0, n, sum, i, 0);
                                    a.poll(counter, 16);
                                    counter.sum += sum.value();
                                    counter.bad += refused == 0 ? 0 : 1;
                                }
                            });
            assertThat(counter.completions).isEqualTo(2 * runs * rounds);
            assertThat(counter.bad).isZero();
        }
    }

    private static void run(
            Pair pair,
            RegisteredRegion source,
            RemoteDescriptor descriptor,
            Counter counter,
            int rounds) {
        Transport a = pair.a;
        long to = pair.fromA;
        for (int i = 0; i < rounds; i++) {
            int refused = 0;
            refused |= a.send(to, source, 0, 64, i, 0);
            refused |= a.put(to, source, 0, descriptor, 8, 8, i, 0);
            refused |= a.put(to, source, 0, descriptor, 0, 4096, i, 0);
            refused |= a.get(to, source, 0, descriptor, 24, 100, i, 0);
            refused |= a.putNotify(to, source, 0, descriptor, 0, 64, 3, i, 0);
            refused |= a.fetchAdd(to, descriptor, 8, 1, i, 0);
            refused |= a.compareSwap(to, descriptor, 8, 0, 1, i, 0);
            counter.bad += refused == 0 ? 0 : 1;
            a.poll(counter, 16);
            pair.b.poll(counter, 16);
        }
    }
}
