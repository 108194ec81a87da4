package dev.verbena.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.verbena.memory.OffHeapMemories;
import dev.verbena.memory.OffHeapMemory;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What goes wrong on a real kernel ends in a status, an event or an exception, and in time. */
@Tag("verbs-device")
@Timeout(180)
class VerbsFaultDeviceIT {
    private static final long PATIENCE_NS = 50_000_000_000L;

    /** Seven times 67 ms are meant; timers may be four times late, an emulated machine more. */
    private static final long RETRY_NS = 20_000_000_000L;

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

    private RealPair pair() {
        return new RealPair(device, QueuePairType.RC).connect();
    }

    @Test
    void shouldTellThatACompletionQueueOverran() {
        try (RealPair pair = pair();
                CompletionQueue small = device.createCompletionQueue(2);
                QueuePair queue =
                        pair.domain.createQueuePair(
                                new QueuePairContext().completions(small).sendCapacity(64));
                SendRequests sends = queue.newSends(64)) {
            queue.connect(pair.path, pair.address(pair.b));
            pair.b.toReset();
            pair.b.connect(pair.path, pair.address(queue));
            for (int i = 0; i < 64; i++) {
                sends.at(i)
                        .id(i)
                        .segment(pair.regionA, 0, 8)
                        .write(pair.regionB.remoteAddress(0), pair.regionB.remoteKey())
                        .signalled(true);
            }
            assertThat(queue.post(sends, 0, 64)).isEqualTo(64);
            AsyncEvent event = device.awaitEvent(PATIENCE_NS);
            assertThat(event).as("no event").isNotNull();
            assertThat(event.type()).isEqualTo(AsyncEvent.COMPLETION_QUEUE_ERROR);
            int polled = small.poll(64);
            assertThat(polled).isLessThan(64);
            for (int i = 0; i < polled; i++) {
                assertThat(small.completion(i).id()).isBetween(0L, 63L);
            }
        }
    }

    @Test
    void shouldRefuseWhatARegionDoesNotAllow() {
        int[] kinds = {0, 1, 2};
        for (int kind : kinds) {
            try (RealPair pair = pair();
                    OffHeapMemory memory = OffHeapMemories.allocate(4096);
                    MemoryRegion closed = pair.domain.register(memory, Access.LOCAL_WRITE)) {
                SendRequestFlyweight send = pair.sends.at(0).segment(pair.regionA, 0, 8);
                long to = closed.remoteAddress(0);
                if (kind == 0) {
                    send.write(to, closed.remoteKey());
                } else if (kind == 1) {
                    send.read(to, closed.remoteKey());
                } else {
                    send.fetchAdd(to, closed.remoteKey(), 1);
                }
                assertThat(pair.run(send).status()).isEqualTo(CompletionStatus.REMOTE_ACCESS);
                assertThat(closed.buffer(0, 8).getLong(0)).isZero();
            }
        }
    }

    @Test
    void shouldReportAMessageThatIsLongerThanItsReceive() {
        try (RealPair pair = pair()) {
            pair.b.post(pair.receives.set(0, 70, pair.regionB, 0, 100), 0, 1);
            SendRequestFlyweight send = pair.sends.at(0).segment(pair.regionA, 0, 101).send();
            assertThat(pair.run(send).isSuccess()).isFalse();
            // Cards say the first, Soft-RoCE the second.
            assertThat(pair.next(pair.completionsB).status())
                    .isIn(CompletionStatus.LOCAL_LENGTH, CompletionStatus.LOCAL_OPERATION);
            assertThat(pair.bytesB.getByte(100)).isZero();
        }
    }

    @Test
    void shouldReportARegionThatThePeerClosesWhileItIsWrittenTo() {
        try (RealPair pair = pair();
                OffHeapMemory memory = OffHeapMemories.allocate(1 << 20)) {
            MemoryRegion target = pair.domain.register(memory, Access.REMOTE_ALL);
            for (int i = 0; i < 16; i++) {
                pair.sends
                        .at(i)
                        .id(i)
                        .segment(pair.regionA, 0, 1 << 20)
                        .write(target.remoteAddress(0), target.remoteKey())
                        .signalled(true);
            }
            assertThat(pair.a.post(pair.sends, 0, 16)).isEqualTo(16);
            assertThat(pair.next(pair.completionsA).isSuccess()).isTrue();
            target.close();
            int failed = 0;
            for (int i = 1; i < 16; i++) {
                CompletionFlyweight completion = pair.next(pair.completionsA);
                assertThat(completion.id()).isEqualTo(i);
                if (!completion.isSuccess()) {
                    assertThat(completion.status())
                            .isEqualTo(
                                    failed == 0
                                            ? CompletionStatus.REMOTE_ACCESS
                                            : CompletionStatus.FLUSHED);
                    failed++;
                }
            }
            // 15 MiB of writes take far longer than to close the region.
            assertThat(failed).isPositive();
        }
    }

    /** rdma-core's rping accepts and waits, in a process that is killed. */
    @Test
    void shouldTellThatAConnectedProcessWasKilled() throws Exception {
        assumeTrue(ConnectionChannel.unavailabilityCause() == null, "no librdmacm here");
        try (ConnectionChannel channel = ConnectionChannel.open()) {
            InetSocketAddress server = freeAddress(channel);
            Process rping = rping(server);
            try (RealConnection end = connected(channel, server, rping)) {
                rping.destroyForcibly();
                assertThat(rping.waitFor(50, TimeUnit.SECONDS)).isTrue();
                long beganNs = System.nanoTime();
                SendRequestFlyweight send = end.sends.at(0).segment(end.region, 0, 8).send();
                assertThat(end.run(send).status()).isEqualTo(CompletionStatus.RETRIES_EXCEEDED);
                assertThat(System.nanoTime() - beganNs).isLessThan(RETRY_NS);
                ConnectionEvent ended = end.identifier.await(PATIENCE_NS);
                // A kernel that had not yet heard that the connection is established rejects it.
                assertThat(ended.type())
                        .isIn(ConnectionEventType.DISCONNECTED, ConnectionEventType.REJECTED);
                assertThat(end.queue.state()).isEqualTo(QueuePairState.ERROR);
            } finally {
                rping.destroyForcibly();
            }
        }
    }

    private static InetSocketAddress freeAddress(ConnectionChannel channel) throws IOException {
        try (ConnectionIdentifier free = channel.createIdentifier(PortSpace.TCP)) {
            free.bind(RealConnection.localAddress(false, 0));
            return free.localAddress();
        }
    }

    private static Process rping(InetSocketAddress server) {
        try {
            return new ProcessBuilder(
                            "rping",
                            "-s",
                            "-a",
                            server.getAddress().getHostAddress(),
                            "-p",
                            String.valueOf(server.getPort()))
                    .redirectErrorStream(true)
                    .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                    .start();
        } catch (IOException e) {
            assumeTrue(false, "no program rping here (package rdmacm-utils)");
            return null;
        }
    }

    /** To a server that may not listen yet. */
    private static RealConnection connected(
            ConnectionChannel channel, InetSocketAddress server, Process rping)
            throws InterruptedException {
        long deadlineNs = System.nanoTime() + PATIENCE_NS;
        while (true) {
            ConnectionIdentifier identifier = channel.createIdentifier(PortSpace.TCP);
            identifier.resolve(server, PATIENCE_NS);
            RealConnection end = new RealConnection(identifier);
            identifier.connect(end.queue, new ConnectionContext());
            try {
                identifier.await(ConnectionEventType.ESTABLISHED, PATIENCE_NS);
                return end;
            } catch (ConnectionException e) {
                end.close();
                assertThat(rping.isAlive() && System.nanoTime() - deadlineNs < 0).isTrue();
                TimeUnit.MILLISECONDS.sleep(100);
            }
        }
    }
}
