package dev.verbena.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.memory.OffHeapMemories;
import dev.verbena.memory.OffHeapMemory;
import org.agrona.concurrent.UnsafeBuffer;

/** Two queue pairs of the real device, connected to each other. */
final class RealPair implements AutoCloseable {
    static final int LENGTH = 1 << 20;
    private static final long PATIENCE_NS = 50_000_000_000L;

    final RdmaDevice device;
    final GidChoice gid;
    final PathContext path;
    final ProtectionDomain domain;
    final OffHeapMemory memoryA = OffHeapMemories.allocate(LENGTH);
    final OffHeapMemory memoryB = OffHeapMemories.allocate(LENGTH);
    final MemoryRegion regionA;
    final MemoryRegion regionB;
    final CompletionChannel channel;
    final CompletionQueue completionsA;
    final CompletionQueue completionsB;
    final QueuePair a;
    final QueuePair b;
    final SendRequests sends;
    final ReceiveRequests receives;
    final UnsafeBuffer bytesA;
    final UnsafeBuffer bytesB;

    /** The device, opened, which it closes. */
    RealPair(RdmaDevice device, QueuePairType type) {
        this.device = device;
        gid = device.chooseGid(1);
        path =
                new PathContext()
                        .gidIndex(gid.entry().index())
                        .mtu(device.port(1).mtu())
                        .readsMax(4)
                        .notReadyRetries(2)
                        .retries(2);
        domain = device.allocateProtectionDomain();
        regionA = domain.register(memoryA, Access.REMOTE_ALL);
        regionB = domain.register(memoryB, Access.REMOTE_ALL);
        bytesA = regionA.buffer(0, LENGTH);
        bytesB = regionB.buffer(0, LENGTH);
        channel = device.createCompletionChannel();
        completionsA = device.createCompletionQueue(64, channel, 0);
        completionsB = device.createCompletionQueue(64, channel, 0);
        a = domain.createQueuePair(context(type).completions(completionsA));
        b = domain.createQueuePair(context(type).completions(completionsB));
        sends = a.newSends(16);
        receives = b.newReceives(16);
    }

    private static QueuePairContext context(QueuePairType type) {
        return new QueuePairContext().type(type).sendCapacity(16).receiveCapacity(16).inlineMax(16);
    }

    RealPair connect() {
        boolean isDatagram = a.type() == QueuePairType.UD;
        a.connect(path, isDatagram ? null : address(b));
        b.connect(path, isDatagram ? null : address(a));
        return this;
    }

    QueuePairAddress address(QueuePair queue) {
        return queue.address(gid.entry().gid(), device.port(1).lid());
    }

    /** The next completion of the queue; sleeps on the channel. */
    CompletionFlyweight next(CompletionQueue queue) {
        long deadlineNs = System.nanoTime() + PATIENCE_NS;
        while (true) {
            if (queue.poll(1) == 1) {
                return queue.completion(0);
            }
            queue.requestNotification(false);
            if (queue.poll(1) == 1) {
                return queue.completion(0);
            }
            assertThat(deadlineNs - System.nanoTime()).as("no completion in 50 s").isPositive();
            channel.await(1_000_000_000L);
        }
    }

    /** Posts one signalled send and waits for its completion. */
    CompletionFlyweight run(SendRequestFlyweight request) {
        assertThat(a.post(request.signalled(true))).isEqualTo(1);
        return next(completionsA);
    }

    @Override
    public void close() {
        sends.close();
        receives.close();
        a.close();
        b.close();
        completionsA.close();
        completionsB.close();
        channel.close();
        regionA.close();
        regionB.close();
        domain.close();
        memoryA.close();
        memoryB.close();
    }
}
