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

    /** Of an open device, which stays open. */
    RealPair(RdmaDevice device, QueuePairType type) {
        this(device, context(type), new CompletionQueueContext(), Access.REMOTE_ALL);
    }

    /**
     * @param context of both queue pairs
     * @param completions of both completion queues
     * @param access of both regions
     */
    RealPair(
            RdmaDevice device,
            QueuePairContext context,
            CompletionQueueContext completions,
            int access) {
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
        regionA = domain.register(memoryA, access);
        regionB = domain.register(memoryB, access);
        bytesA = regionA.buffer(0, LENGTH);
        bytesB = regionB.buffer(0, LENGTH);
        channel = device.createCompletionChannel();
        completionsA = device.createCompletionQueue(completions.channel(channel));
        completionsB = device.createCompletionQueue(completions);
        a = domain.createQueuePair(context.completions(completionsA));
        b = domain.createQueuePair(context.completions(completionsB));
        sends = a.newSends(16);
        receives = b.newReceives(16);
    }

    static QueuePairContext context(QueuePairType type) {
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

    /** B announces what it receives, and A sleeps until then. */
    void checkAnnounced() {
        fill();
        boolean isDatagram = a.type() == QueuePairType.UD;
        int header = isDatagram ? 40 : 0;
        QueuePairAddress to = address(b);
        try (AddressHandle peer = domain.createAddressHandle(path, to.gid(), to.lid())) {
            b.post(receives.set(0, 70, regionB, 0, 64 + header), 0, 1);
            completionsB.requestNotification(false);
            SendRequestFlyweight send = sends.at(0).id(5).segment(regionA, 8, 64).send();
            if (isDatagram) {
                send.to(peer, to.number(), path.queueKey);
            }
            assertThat(a.post(send.signalled(true))).isEqualTo(1);
            assertThat(channel.await(PATIENCE_NS)).isSameAs(completionsB);
            checkReceived(70, 64, header);
            assertThat(next(completionsA).id()).isEqualTo(5);
        }
    }

    /** The same path as the others', with what else was set there. */
    PathContext restrict(PathContext other) {
        return other.gidIndex(gid.entry().index()).mtu(device.port(1).mtu()).readsMax(4);
    }

    /** Bytes that differ from place to place. */
    void fill() {
        for (int i = 0; i < LENGTH; i += 8) {
            bytesA.putLong(i, i * 0x9E3779B97F4A7C15L);
        }
    }

    /** Sends bytes of A over connected queue pairs, and compares what B received. */
    void checkTraffic(int length) {
        fill();
        assertThat(b.post(receives.set(0, 70, regionB, 0, length), 0, 1)).isEqualTo(1);
        SendRequestFlyweight send = sends.at(0).id(5).segment(regionA, 8, length).send();
        CompletionFlyweight sent = run(send);
        assertThat(sent.isSuccess()).isTrue();
        assertThat(sent.id()).isEqualTo(5);
        checkReceived(70, length, 0);
    }

    /** The same with a datagram. */
    void checkDatagrams(int length) {
        fill();
        int header = 40;
        QueuePairAddress to = address(b);
        try (AddressHandle peer = domain.createAddressHandle(path, to.gid(), to.lid())) {
            b.post(receives.set(0, 70, regionB, 0, length + header), 0, 1);
            SendRequestFlyweight send = sends.at(0).id(5).segment(regionA, 8, length).send();
            send.to(peer, to.number(), path.queueKey);
            assertThat(run(send).isSuccess()).isTrue();
            checkReceived(70, length, header);
        }
    }

    /** The next completion of B is a receive of these bytes of A from offset 8. */
    void checkReceived(long id, int length, int header) {
        CompletionFlyweight received = next(completionsB);
        assertThat(received.isSuccess()).isTrue();
        assertThat(received.id()).isEqualTo(id);
        assertThat(received.opcode()).isEqualTo(CompletionFlyweight.RECEIVE);
        assertThat(received.length()).isEqualTo(length + header);
        assertThat(received.queuePairNumber()).isEqualTo(b.number());
        checkBytes(8, header, length);
    }

    void checkBytes(int fromA, int fromB, int length) {
        for (int i = 0; i < length; i++) {
            assertThat(bytesB.getByte(fromB + i))
                    .as("byte %d", i)
                    .isEqualTo(bytesA.getByte(fromA + i));
        }
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
