package dev.verbena.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.memory.OffHeapMemories;
import dev.verbena.memory.OffHeapMemory;
import java.util.function.BiConsumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Verbs against a real kernel: two queue pairs of one device, every byte compared. */
@Tag("verbs-device")
@Timeout(180)
class VerbsDeviceIT {
    private static final int UD_HEADER = 40;

    private RdmaDevice device;

    @BeforeEach
    void open() {
        device = RealDevice.open();
    }

    @AfterEach
    void close() {
        if (device != null) {
            device.close();
        }
    }

    private void connected(QueuePairType type, BiConsumer<RealPair, SendRequestFlyweight> test) {
        try (RealPair pair = new RealPair(device, type)) {
            pair.connect();
            for (int i = 0; i < RealPair.LENGTH; i += 8) {
                pair.bytesA.putLong(i, i * 0x9E3779B97F4A7C15L);
            }
            test.accept(pair, pair.sends.at(0));
        }
    }

    private static void assertEqual(RealPair pair, int fromA, int fromB, int length) {
        for (int i = 0; i < length; i++) {
            assertThat(pair.bytesB.getByte(fromB + i))
                    .as("byte %d", i)
                    .isEqualTo(pair.bytesA.getByte(fromA + i));
        }
    }

    @Test
    void shouldDescribeTheDevice() {
        DeviceAttributes attributes = device.attributes();
        assertThat(attributes.requestsMax()).isGreaterThan(100);
        assertThat(attributes.portCount()).isPositive();
        assertThat(device.port(1).mtu()).isBetween(256, 4096);
        GidChoice choice = device.chooseGid(1);
        assertThat(choice.reason()).contains("GID index " + choice.entry().index());
        assertThat(choice.entry().gid().isZero()).isFalse();
        assertThat(device.pkey(1, 0) & 0x7fff).isNotZero();
        assertThat(device.completionVectorCount()).isPositive();
        assertThat(RdmaDevices.forkStatus()).isIn("enabled", "disabled", "unneeded");
        assertThat(device.awaitEvent(0)).isNull();
    }

    @Test
    void shouldSendAndReceiveOverAReliableConnection() {
        connected(
                QueuePairType.RC,
                (pair, send) -> {
                    pair.receives.set(0, 70, pair.regionB, 0, 100_000);
                    pair.receives.set(1, 71, pair.regionB, 200_000, 64);
                    assertThat(pair.b.post(pair.receives, 0, 2)).isEqualTo(2);
                    send.id(5).segment(pair.regionA, 100, 100_000).send();
                    assertThat(pair.run(send).isSuccess()).isTrue();
                    CompletionFlyweight received = pair.next(pair.completionsB);
                    assertThat(received.id()).isEqualTo(70);
                    assertThat(received.length()).isEqualTo(100_000);
                    assertThat(received.opcode()).isEqualTo(CompletionFlyweight.RECEIVE);
                    assertThat(received.queuePairNumber()).isEqualTo(pair.b.number());
                    assertEqual(pair, 100, 0, 100_000);
                    send.id(6).segment(pair.regionA, 7, 13).sendImmediate(0xcafe).inline(true);
                    assertThat(pair.run(send).id()).isEqualTo(6);
                    received = pair.next(pair.completionsB);
                    assertThat(received.id()).isEqualTo(71);
                    assertThat(received.immediate()).isEqualTo(0xcafe);
                    assertEqual(pair, 7, 200_000, 13);
                });
    }

    @Test
    void shouldWriteAndReadThePeersMemory() {
        connected(
                QueuePairType.RC,
                (pair, send) -> {
                    int key = pair.regionB.remoteKey();
                    send.segment(pair.regionA, 3, 500_001)
                            .write(pair.regionB.remoteAddress(11), key);
                    assertThat(pair.run(send).isSuccess()).isTrue();
                    assertEqual(pair, 3, 11, 500_001);
                    pair.bytesB.putLong(800_000, 0x1234_5678_9abcL);
                    send.segment(pair.regionA, 900_000, 8)
                            .read(pair.regionB.remoteAddress(800_000), key);
                    assertThat(pair.run(send).opcode()).isEqualTo(CompletionFlyweight.READ);
                    assertThat(pair.bytesA.getLong(900_000)).isEqualTo(0x1234_5678_9abcL);
                    pair.b.post(pair.receives.set(0, 9, pair.regionB, 0, 0), 0, 1);
                    send.segment(pair.regionA, 0, 4096)
                            .writeImmediate(pair.regionB.remoteAddress(4096), key, 77);
                    assertThat(pair.run(send).isSuccess()).isTrue();
                    CompletionFlyweight notified = pair.next(pair.completionsB);
                    assertThat(notified.opcode())
                            .isEqualTo(CompletionFlyweight.RECEIVE_WRITE_IMMEDIATE);
                    assertThat(notified.immediate()).isEqualTo(77);
                    assertThat(notified.length()).isEqualTo(4096);
                    assertEqual(pair, 0, 4096, 4096);
                });
    }

    @Test
    @Tag("pyverbs-test_atomic.AtomicTest.test_atomic_cmp_and_swap")
    @Tag("pyverbs-test_atomic.AtomicTest.test_atomic_fetch_and_add")
    void shouldDoAtomics() {
        connected(
                QueuePairType.RC,
                (pair, send) -> {
                    int key = pair.regionB.remoteKey();
                    long counter = pair.regionB.remoteAddress(64);
                    pair.bytesB.putLong(64, 40);
                    send.segment(pair.regionA, 8, 8).fetchAdd(counter, key, 2);
                    assertThat(pair.run(send).isSuccess()).isTrue();
                    assertThat(pair.bytesA.getLong(8)).isEqualTo(40);
                    assertThat(pair.bytesB.getLong(64)).isEqualTo(42);
                    assertThat(pair.run(send.compareSwap(counter, key, 42, 99)).isSuccess())
                            .isTrue();
                    assertThat(pair.bytesA.getLong(8)).isEqualTo(42);
                    assertThat(pair.bytesB.getLong(64)).isEqualTo(99);
                    assertThat(pair.run(send.compareSwap(counter, key, 42, 1)).isSuccess())
                            .isTrue();
                    assertThat(pair.bytesA.getLong(8)).isEqualTo(99);
                    assertThat(pair.bytesB.getLong(64)).isEqualTo(99);
                });
    }

    @Test
    void shouldPostBatchesOfWhichOnlyTheLastIsSignalled() {
        connected(
                QueuePairType.RC,
                (pair, send) -> {
                    for (int round = 0; round < 5; round++) {
                        for (int i = 0; i < 16; i++) {
                            long to = pair.regionB.remoteAddress(i * 64L);
                            pair.sends
                                    .at(i)
                                    .id(round * 100L + i)
                                    .segment(pair.regionA, round * 4096L + i * 64L, 64)
                                    .write(to, pair.regionB.remoteKey())
                                    .signalled(i == 15);
                        }
                        assertThat(pair.a.post(pair.sends, 0, 16)).isEqualTo(16);
                        assertThat(pair.a.post(send)).isEqualTo(Post.BACK_PRESSURED);
                        assertThat(pair.next(pair.completionsA).id()).isEqualTo(round * 100L + 15);
                        assertThat(pair.a.sendRoom()).isEqualTo(pair.a.sendCapacity());
                        assertEqual(pair, round * 4096, 0, 1024);
                    }
                });
    }

    @Test
    void shouldSendAndWriteOverAnUnreliableConnection() {
        connected(
                QueuePairType.UC,
                (pair, send) -> {
                    pair.b.post(pair.receives.set(0, 70, pair.regionB, 0, 1000), 0, 1);
                    send.segment(pair.regionA, 100, 1000).send();
                    assertThat(pair.run(send).isSuccess()).isTrue();
                    assertThat(pair.next(pair.completionsB).length()).isEqualTo(1000);
                    assertEqual(pair, 100, 0, 1000);
                    long to = pair.regionB.remoteAddress(5000);
                    pair.b.post(pair.receives.set(0, 71, pair.regionB, 0, 0), 0, 1);
                    send.segment(pair.regionA, 64, 5000)
                            .writeImmediate(to, pair.regionB.remoteKey(), 3);
                    assertThat(pair.run(send).isSuccess()).isTrue();
                    assertThat(pair.next(pair.completionsB).immediate()).isEqualTo(3);
                    assertEqual(pair, 64, 5000, 5000);
                });
    }

    @Test
    void shouldSendDatagrams() {
        connected(
                QueuePairType.UD,
                (pair, send) -> {
                    QueuePairAddress to = pair.address(pair.b);
                    try (AddressHandle peer =
                            pair.domain.createAddressHandle(pair.path, to.gid(), to.lid())) {
                        pair.b.post(pair.receives.set(0, 70, pair.regionB, 0, 1000), 0, 1);
                        send.segment(pair.regionA, 32, 500)
                                .send()
                                .to(peer, to.number(), pair.path.queueKey);
                        assertThat(pair.run(send).isSuccess()).isTrue();
                        CompletionFlyweight received = pair.next(pair.completionsB);
                        assertThat(received.length()).isEqualTo(500 + UD_HEADER);
                        assertThat(received.sourceQueuePair()).isEqualTo(pair.a.number());
                        assertThat(received.hasRouteHeader()).isTrue();
                        assertEqual(pair, 32, UD_HEADER, 500);
                        answerUnknownSender(pair, received);
                    }
                });
    }

    /** B knows nobody: whom it answers stands in what it received. */
    private static void answerUnknownSender(RealPair pair, CompletionFlyweight received) {
        int sender = received.sourceQueuePair();
        try (AddressHandle back = pair.domain.createAddressHandle(received, pair.bytesB, 0, 1);
                SendRequests answers = pair.b.newSends(1);
                ReceiveRequests receives = pair.a.newReceives(1)) {
            pair.a.post(receives.set(0, 72, pair.regionA, 4096, 1000), 0, 1);
            pair.bytesB.putLong(8192, 0x123456789L);
            answers.at(0)
                    .segment(pair.regionB, 8192, 8)
                    .signalled(true)
                    .to(back, sender, pair.path.queueKey);
            assertThat(pair.b.post(answers.at(0))).isEqualTo(1);
            assertThat(pair.next(pair.completionsB).isSuccess()).isTrue();
            assertThat(pair.next(pair.completionsA).id()).isEqualTo(72);
            assertThat(pair.bytesA.getLong(4096 + UD_HEADER)).isEqualTo(0x123456789L);
        }
    }

    @Test
    void shouldShareReceives() {
        try (RealPair pair = new RealPair(device, QueuePairType.RC);
                SharedReceiveQueue shared = pair.domain.createSharedReceiveQueue(8, 1);
                ReceiveRequests receives = shared.newReceives(2);
                QueuePair target =
                        pair.domain.createQueuePair(
                                new QueuePairContext()
                                        .completions(pair.completionsB)
                                        .sharedReceives(shared))) {
            target.connect(pair.path, pair.address(pair.a));
            pair.a.connect(pair.path, pair.address(target));
            receives.set(0, 30, pair.regionB, 0, 64).set(1, 31, pair.regionB, 64, 64);
            assertThat(shared.post(receives, 0, 2)).isEqualTo(2);
            shared.limit(2);
            pair.bytesA.putLong(0, 4711);
            SendRequestFlyweight send = pair.sends.at(0).segment(pair.regionA, 0, 8).send();
            assertThat(pair.run(send).isSuccess()).isTrue();
            assertThat(pair.next(pair.completionsB).id()).isEqualTo(30);
            assertThat(pair.bytesB.getLong(0)).isEqualTo(4711);
            AsyncEvent event = device.awaitEvent(30_000_000_000L);
            assertThat(event.type()).isEqualTo(AsyncEvent.SHARED_RECEIVE_QUEUE_LIMIT);
            assertThat(event.object()).isSameAs(shared);
        }
    }

    @Test
    void shouldReportAWrongKeyAndFlushWhatFollows() {
        connected(
                QueuePairType.RC,
                (pair, send) -> {
                    long to = pair.regionB.remoteAddress(0);
                    send.id(1).segment(pair.regionA, 0, 64);
                    send.write(to, pair.regionB.remoteKey() ^ 0x5500);
                    CompletionFlyweight failed = pair.run(send);
                    assertThat(failed.id()).isEqualTo(1);
                    assertThat(failed.status()).isEqualTo(CompletionStatus.REMOTE_ACCESS);
                    assertThat(pair.a.state()).isEqualTo(QueuePairState.ERROR);
                    assertThat(pair.run(send.id(2)).status()).isEqualTo(CompletionStatus.FLUSHED);
                });
    }

    @Test
    void shouldReportAWriteThatLeavesThePeersRegion() {
        connected(
                QueuePairType.RC,
                (pair, send) -> {
                    long end = pair.regionB.remoteAddress(RealPair.LENGTH);
                    send.segment(pair.regionA, 0, 64).write(end - 32, pair.regionB.remoteKey());
                    assertThat(pair.run(send).status()).isEqualTo(CompletionStatus.REMOTE_ACCESS);
                });
    }

    @Test
    void shouldReportAPeerThatPostsNoReceive() {
        connected(
                QueuePairType.RC,
                (pair, send) -> {
                    send.segment(pair.regionA, 0, 64).send();
                    assertThat(pair.run(send).status()).isEqualTo(CompletionStatus.NO_RECEIVE);
                });
    }

    @Test
    void shouldReportAPeerThatIsGone() {
        connected(
                QueuePairType.RC,
                (pair, send) -> {
                    pair.b.toReset();
                    send.segment(pair.regionA, 0, 64)
                            .write(pair.regionB.remoteAddress(0), pair.regionB.remoteKey());
                    assertThat(pair.run(send).status())
                            .isEqualTo(CompletionStatus.RETRIES_EXCEEDED);
                });
    }

    @Test
    void shouldFlushReceivesWhenThePairGoesToError() {
        connected(
                QueuePairType.RC,
                (pair, send) -> {
                    pair.b.post(pair.receives.set(0, 70, pair.regionB, 0, 64), 0, 1);
                    assertThatThrownBy(pair.regionB::close)
                            .isInstanceOf(IllegalStateException.class)
                            .hasMessageContaining("is in use by requests");
                    pair.b.toError();
                    CompletionFlyweight flushed = pair.next(pair.completionsB);
                    assertThat(flushed.id()).isEqualTo(70);
                    assertThat(flushed.status()).isEqualTo(CompletionStatus.FLUSHED);
                });
    }

    @Test
    void shouldOpenAndCloseEverythingManyTimes() {
        try (OffHeapMemory memory = OffHeapMemories.allocate(4096)) {
            for (int i = 0; i < 200; i++) {
                try (ProtectionDomain domain = device.allocateProtectionDomain();
                        MemoryRegion region = domain.register(memory, Access.REMOTE_ALL);
                        CompletionQueue completions = device.createCompletionQueue(4);
                        QueuePair queue =
                                domain.createQueuePair(
                                        new QueuePairContext().completions(completions))) {
                    assertThat(queue.state()).isEqualTo(QueuePairState.RESET);
                    assertThat(region.remoteKey()).isNotZero();
                }
            }
        }
    }
}
