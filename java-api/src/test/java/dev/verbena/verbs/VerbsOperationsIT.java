package dev.verbena.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Flags and shapes of requests on a real device, and how it refuses what it lacks. */
@Tag("verbs-device")
@Timeout(180)
class VerbsOperationsIT {
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

    private RealPair connected(int operations, int access) {
        QueuePairContext context =
                RealPair.context(QueuePairType.RC)
                        .segmentsMax(3, 3)
                        .inlineMax(64)
                        .operations(operations);
        RealPair pair = new RealPair(device, context, new CompletionQueueContext(), access);
        pair.connect();
        pair.fill();
        return pair;
    }

    @Test
    void shouldGatherAndScatter() {
        try (RealPair pair = connected(0, Access.REMOTE_ALL)) {
            pair.receives
                    .segment(0, 0, pair.regionB, 0, 7)
                    .segment(0, 1, pair.regionB, 5000, 2000)
                    .segment(0, 2, pair.regionB, 9000, 5000)
                    .segments(0, 3)
                    .id(0, 70);
            pair.b.post(pair.receives, 0, 1);
            SendRequestFlyweight send = pair.sends.at(0).send();
            send.segment(0, pair.regionA, 100, 3000)
                    .segment(1, pair.regionA, 0, 50)
                    .segment(2, pair.regionA, 3100, 2000)
                    .segments(3);
            assertThat(pair.run(send).isSuccess()).isTrue();
            assertThat(pair.next(pair.completionsB).length()).isEqualTo(5050);
            pair.checkBytes(100, 0, 7);
            pair.checkBytes(107, 5000, 2000);
            pair.checkBytes(2107, 9000, 993);
            pair.checkBytes(0, 9993, 50);
            pair.checkBytes(3100, 10_043, 2000);
            send.write(pair.regionB.remoteAddress(20_000), pair.regionB.remoteKey());
            assertThat(pair.run(send).isSuccess()).isTrue();
            pair.checkBytes(100, 20_000, 3000);
            pair.checkBytes(0, 23_000, 50);
            pair.checkBytes(3100, 23_050, 2000);
        }
    }

    @Test
    void shouldSendInlineInPieces() {
        try (RealPair pair = connected(SendOperations.RELIABLE, Access.REMOTE_ALL);
                SendBuilder builder = pair.a.newBuilder(1)) {
            long to = pair.regionB.remoteAddress(0);
            int key = pair.regionB.remoteKey();
            SendRequestFlyweight write = pair.sends.at(0).inline(true);
            write.segment(0, pair.regionA, 100, 20).segment(1, pair.regionA, 0, 30).segments(2);
            assertThat(pair.run(write.write(to, key)).isSuccess()).isTrue();
            pair.checkBytes(100, 0, 20);
            pair.checkBytes(0, 20, 30);
            for (int pieces = 1; pieces <= 2; pieces++) {
                SendRequestFlyweight built = builder.start().request().inline(true);
                built.segment(0, pair.regionA, 200, 20).segment(1, pair.regionA, 300, 30);
                built.segments(pieces).write(to, key).signalled(true);
                assertThat(builder.complete()).isEqualTo(1);
                assertThat(pair.next(pair.completionsA).isSuccess()).isTrue();
                pair.checkBytes(200, 0, 20);
            }
            pair.checkBytes(300, 20, 30);
        }
    }

    @Test
    void shouldLetAFencedWriteSeeTheReadBeforeIt() {
        try (RealPair pair = connected(0, Access.REMOTE_ALL)) {
            int key = pair.regionB.remoteKey();
            for (int round = 1; round <= 20; round++) {
                pair.bytesB.putLong(64, round);
                pair.sends
                        .at(0)
                        .segment(pair.regionA, 0, 8)
                        .read(pair.regionB.remoteAddress(64), key);
                pair.sends
                        .at(1)
                        .segment(pair.regionA, 0, 8)
                        .write(pair.regionB.remoteAddress(128), key)
                        .fenced(true)
                        .signalled(true);
                assertThat(pair.a.post(pair.sends, 0, 2)).isEqualTo(2);
                assertThat(pair.next(pair.completionsA).isSuccess()).isTrue();
                assertThat(pair.bytesB.getLong(128)).isEqualTo(round);
            }
        }
    }

    @Test
    void shouldAnnounceSolicitedMessagesOnly() {
        try (RealPair pair = connected(0, Access.REMOTE_ALL)) {
            pair.receives.set(0, 70, pair.regionB, 0, 64).set(1, 71, pair.regionB, 64, 64);
            pair.b.post(pair.receives, 0, 2);
            pair.completionsB.requestNotification(true);
            SendRequestFlyweight send = pair.sends.at(0).segment(pair.regionA, 0, 8).send();
            send.signalled(true);
            assertThat(pair.a.post(send)).isEqualTo(1);
            while (pair.completionsA.poll(1) == 0) {
                Thread.yield();
            }
            assertThat(pair.channel.await(0)).isNull();
            assertThat(pair.a.post(send.solicited(true))).isEqualTo(1);
            assertThat(pair.channel.await(50_000_000_000L)).isSameAs(pair.completionsB);
            assertThat(pair.next(pair.completionsB).id()).isEqualTo(70);
            assertThat(pair.next(pair.completionsB).id()).isEqualTo(71);
            assertThat(pair.next(pair.completionsA).isSuccess()).isTrue();
        }
    }

    @Test
    void shouldAddressARegionFromZero() {
        try (RealPair pair = connected(0, Access.REMOTE_ALL);
                MemoryRegion zeroBased =
                        pair.domain.register(pair.memoryB, Access.REMOTE_ALL | Access.ZERO_BASED)) {
            assertThat(zeroBased.remoteAddress(4096)).isEqualTo(4096);
            SendRequestFlyweight write = pair.sends.at(0).segment(pair.regionA, 8, 1000);
            write.write(zeroBased.remoteAddress(4096), zeroBased.remoteKey());
            assertThat(pair.run(write).isSuccess()).isTrue();
            pair.checkBytes(8, 4096, 1000);
        }
    }

    /** Each works, or is refused as not offered; what a NIC lacks breaks nothing. */
    @Test
    void shouldRefuseWhatTheDeviceLacks() {
        try (RealPair pair = connected(0, Access.REMOTE_ALL)) {
            checkOffered(() -> pair.domain.allocateNullRegion().close());
            checkOffered(() -> pair.domain.allocateParentDomain(null).close());
            checkOffered(() -> device.allocateThreadDomain().close());
            checkOffered(device::rawClockTicks);
            checkOffered(() -> pair.completionsA.moderate(8, 100));
            checkOffered(() -> pair.regionA.changeAccess(Access.LOCAL_WRITE));
            checkOffered(() -> reregister(pair));
            checkOffered(() -> implicit(pair));
            checkOffered(() -> deviceMemory(pair));
            checkOffered(() -> pair.a.extendedCapabilities());
            try (QueuePair datagrams =
                    pair.domain.createQueuePair(
                            RealPair.context(QueuePairType.UD).completions(pair.completionsA))) {
                checkOffered(() -> flow(datagrams));
            }
            checkOffered(() -> pair.regionB.prefetch(0, 4096, true, false));
            checkOffered(
                    () ->
                            device.createCompletionQueue(
                                            new CompletionQueueContext()
                                                    .details(CompletionDetails.TIMESTAMP))
                                    .close());
            checkOffered(
                    () ->
                            pair.domain
                                    .createQueuePair(
                                            new QueuePairContext()
                                                    .type(QueuePairType.RAW_PACKET)
                                                    .completions(pair.completionsA))
                                    .close());
            checkOffered(
                    () ->
                            pair.domain
                                    .register(pair.memoryA, Access.LOCAL_WRITE | Access.ON_DEMAND)
                                    .close());
            assertThatThrownBy(() -> pair.domain.registerDmaBuf(-1, 0, 4096, 0, 1))
                    .isInstanceOf(VerbsException.class);
            pair.checkTraffic(100);
        }
    }

    /** As it is now, or as it was. */
    private static void reregister(RealPair pair) {
        MemoryRegion region = pair.domain.register(pair.memoryA, Access.LOCAL_WRITE);
        try {
            region = region.reregister(new ReregistrationContext().memory(pair.memoryB));
            assertThat(region.remoteAddress(0)).isEqualTo(pair.memoryB.address());
        } finally {
            assertThat(region.isClosed()).isFalse();
            region.close();
        }
    }

    private static void implicit(RealPair pair) {
        try (MemoryRegion all = pair.domain.registerImplicit();
                MemoryRegion part = all.part(pair.memoryA, 0, 4096)) {
            SendRequestFlyweight write = pair.sends.at(0).segment(part, 0, 4096);
            write.write(pair.regionB.remoteAddress(0), pair.regionB.remoteKey());
            assertThat(pair.run(write).isSuccess()).isTrue();
        }
    }

    private static void deviceMemory(RealPair pair) {
        try (DeviceMemory memory = pair.device.allocateDeviceMemory(4096, 0);
                MemoryRegion region = pair.domain.register(memory, 0, 4096, Access.LOCAL_WRITE)) {
            memory.write(0, pair.memoryA, 0, 4096);
            SendRequestFlyweight write = pair.sends.at(0).segment(region, 0, 4096);
            write.write(pair.regionB.remoteAddress(0), pair.regionB.remoteKey());
            assertThat(pair.run(write).isSuccess()).isTrue();
            pair.checkBytes(0, 0, 4096);
        }
    }

    private static void flow(QueuePair queue) {
        queue.createFlow(new FlowContext().etherType(0x88b5)).close();
    }

    private static void checkOffered(Runnable call) {
        try {
            call.run();
        } catch (VerbsException e) {
            // Not EFAULT or the like: a clear no.
            assertThat(e.errno()).as(e.getMessage()).isIn(1, 22, 38, 95);
        }
    }
}
