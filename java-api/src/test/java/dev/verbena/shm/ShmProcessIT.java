package dev.verbena.shm;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.memory.RegisteredRegion;
import dev.verbena.memory.RemoteDescriptor;
import dev.verbena.transport.Status;
import dev.verbena.transport.Transport;
import dev.verbena.transport.Transports;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Peers in processes of their own that are killed, stopped and started again. */
@Tag("each-jdk")
@Timeout(120)
class ShmProcessIT {
    private static final long PEER_TIMEOUT_NS = 400_000_000L;

    private final List<Process> children = new ArrayList<>();
    private Transport transport;
    private RegisteredRegion region;
    private Seen seen;

    /** What the parent saw; accepts everything. */
    private final class Seen extends Pair.Seen {
        private final RemoteDescriptor child = new RemoteDescriptor();

        @Override
        public void onConnectRequest(
                long connection, URI peer, DirectBuffer privateData, int offset, int length) {
            super.onConnectRequest(connection, peer, privateData, offset, length);
            child.decode(privateData, offset);
            ShmProcessIT.this.transport.accept(connection, 9);
        }
    }

    @BeforeEach
    void open() {
        transport =
                Transports.open("shm", ShmTesting.context("parent").peerTimeoutNs(PEER_TIMEOUT_NS));
        region = transport.allocate(1 << 20, RemoteDescriptor.REMOTE_ALL);
        transport.listen();
        seen = new Seen();
    }

    @AfterEach
    void close() throws Exception {
        for (Process child : children) {
            signal(child, "CONT");
            child.destroyForcibly();
            child.waitFor();
        }
        pollUntil("completions", () -> transport.poll(seen, 1000) == 0);
        region.close();
        transport.close();
    }

    private Process start(String mode) throws IOException {
        seen.connected = 0;
        Process child = ShmChild.start(mode, ShmTesting.job(), transport.uri());
        children.add(child);
        pollUntil("child connects", () -> seen.connected != 0 || !child.isAlive());
        assertThat(child.isAlive()).isTrue();
        return child;
    }

    private void pollUntil(String what, BooleanSupplier condition) {
        long deadlineNs = System.nanoTime() + Pair.TIMEOUT_NS;
        while (!condition.getAsBoolean()) {
            if (transport.poll(seen, 100) == 0) {
                transport.await(transport.nanoTime() + 20_000_000L);
            }
            assertThat(deadlineNs - System.nanoTime()).as(what).isPositive();
        }
    }

    private static void signal(Process process, String signal) throws Exception {
        new ProcessBuilder("kill", "-" + signal, Long.toString(process.pid()))
                .redirectErrorStream(true)
                .start()
                .waitFor();
    }

    private void sendDescriptor() {
        UnsafeBuffer bytes = region.buffer(0, RemoteDescriptor.LENGTH);
        region.describe(0, region.length(), RemoteDescriptor.REMOTE_ALL, new RemoteDescriptor())
                .encode(bytes, 0);
        assertThat(transport.send(seen.connected, region, 0, RemoteDescriptor.LENGTH, 0, 0))
                .isZero();
    }

    @Test
    void shouldEchoBetweenProcesses() throws Exception {
        start("echo");
        for (int i = 0; i < 1000; i++) {
            int count = i;
            region.buffer(0, 8).putLong(0, i);
            transport.send(seen.connected, region, 0, 8, i, 0);
            pollUntil("echo " + i, () -> seen.messages.size() == count + 1);
            assertThat(new UnsafeBuffer(seen.messages.get(i)).getLong(0)).isEqualTo(i);
        }
    }

    @Test
    void shouldLoseAnIdlePeerOnceWhenItIsKilled() throws Exception {
        Process child = start("idle");
        child.destroyForcibly().waitFor();
        long killedNs = System.nanoTime();
        pollUntil("lost", () -> !seen.ends.isEmpty());
        assertThat(System.nanoTime() - killedNs).isLessThan(2 * PEER_TIMEOUT_NS + 2_000_000_000L);
        for (int i = 0; i < 20; i++) {
            transport.await(transport.nanoTime() + 10_000_000L);
            transport.poll(seen, 10);
        }
        assertThat(seen.ends).hasSize(1);
        assertThat(seen.ends.get(0)).startsWith("lost").contains("child").contains("died");
        assertThat(transport.send(seen.connected, region, 0, 8, 0, 0))
                .isEqualTo(Transport.NOT_CONNECTED);
    }

    @Test
    void shouldCompleteEverythingBeforeThePeerIsLost() throws Exception {
        Process child = start("idle");
        long connection = seen.connected;
        int[] accepted = new int[1];
        while (transport.put(connection, region, 0, seen.child, 0, 4096, accepted[0], 0)
                == Transport.ACCEPTED) {
            accepted[0]++;
            if (accepted[0] == 1000) {
                child.destroyForcibly().waitFor();
            }
        }
        pollUntil("lost", () -> !seen.ends.isEmpty());
        assertThat(seen.statuses).hasSize(accepted[0]);
        assertThat(seen.statuses).allMatch(s -> s == Status.OK || s == Status.PEER_DEAD);
        assertThat(seen.order.get(seen.order.size() - 1)).isEqualTo("lost");
    }

    @Test
    void shouldDeliverWhatWasSentBeforeTheKillInOrder() throws Exception {
        Process child = start("send");
        pollUntil("messages", () -> seen.messages.size() > 100);
        child.destroyForcibly().waitFor();
        pollUntil("lost", () -> !seen.ends.isEmpty());
        for (int i = 0; i < seen.messages.size(); i++) {
            assertThat(new UnsafeBuffer(seen.messages.get(i)).getLong(0)).isEqualTo(i);
        }
        assertThat(seen.order.get(seen.order.size() - 1)).isEqualTo("lost");
    }

    @Test
    void shouldCloseTheRegionThatADeadPeerWasWritingInto() throws Exception {
        for (int round = 0; round < 5; round++) {
            Process child = start("put");
            sendDescriptor();
            int before = seen.notifies.size();
            pollUntil("notified puts", () -> seen.notifies.size() > before + 20);
            child.destroyForcibly().waitFor();
            seen.ends.clear();
            region.close();
            region = transport.allocate(1 << 20, RemoteDescriptor.REMOTE_ALL);
            pollUntil("lost", () -> !seen.ends.isEmpty());
        }
    }

    @Test
    void shouldLoseAPeerThatIsStoppedForTooLong() throws Exception {
        Process child = start("send");
        pollUntil("messages", () -> seen.messages.size() > 10);
        signal(child, "STOP");
        long stoppedNs = System.nanoTime();
        pollUntil("lost", () -> !seen.ends.isEmpty());
        long tookNs = System.nanoTime() - stoppedNs;
        assertThat(tookNs).isGreaterThan(PEER_TIMEOUT_NS / 2);
        assertThat(tookNs).isLessThan(2 * PEER_TIMEOUT_NS + 2_000_000_000L);
        assertThat(seen.ends.get(0)).startsWith("lost").contains("stopped");
        signal(child, "CONT");
        // Its connection is over for it as well, and it ends.
        assertThat(child.waitFor(30, TimeUnit.SECONDS)).isTrue();
        assertThat(child.exitValue()).isZero();
    }

    @Test
    void shouldTellARestartedPeerFromItsFormerSelf() throws Exception {
        Process first = start("idle");
        URI former = seen.requester;
        first.destroyForcibly().waitFor();
        pollUntil("lost", () -> !seen.ends.isEmpty());
        seen.ends.clear();
        start("idle");
        assertThat(seen.requester).isNotEqualTo(former);
        transport.connect(former, null, 0, 0, 0, 1_000_000_000L);
        pollUntil("refused", () -> !seen.ends.isEmpty());
        assertThat(seen.ends.get(0)).startsWith("failed REFUSED");
    }

    @Test
    void shouldRemoveTheSegmentsOfDeadProcessesOfTheJob() throws Exception {
        Process child = start("idle");
        Object uid = Files.getAttribute(Path.of("/proc/self"), "unix:uid");
        Path segment = Path.of("/dev/shm/verbena-" + uid, ShmTesting.job(), "child");
        assertThat(segment).exists();
        child.destroyForcibly().waitFor();
        Transports.open("shm", ShmTesting.context("sweeper")).close();
        assertThat(segment).doesNotExist();
    }
}
