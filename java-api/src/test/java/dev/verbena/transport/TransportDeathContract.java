package dev.verbena.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.verbena.agent.Await;
import dev.verbena.memory.OffHeapMemories;
import dev.verbena.memory.OffHeapMemory;
import dev.verbena.memory.RegisteredRegion;
import dev.verbena.memory.RemoteDescriptor;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.agrona.DirectBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * A peer in another process is killed or stopped while it sends and puts, and what is left of the
 * survivor is sound. A provider is tested by a subclass that names its scheme.
 */
@Timeout(value = 120, unit = TimeUnit.SECONDS)
public abstract class TransportDeathContract {
    private static final AtomicInteger SERIAL = new AtomicInteger();
    private static final long PEER_TIMEOUT_NS = 500_000_000L;

    private final List<Throwable> errors = new CopyOnWriteArrayList<>();
    private final String job =
            "death-" + ProcessHandle.current().pid() + "-" + SERIAL.getAndIncrement();
    private final Counting handler = new Counting();
    private Transport transport;
    private RegisteredRegion region;
    private RegisteredRegion letter;
    private Process peer;

    private final class Counting implements TransportHandler {
        long connection;
        int messages;
        int notifications;
        int lost;
        int disconnected;

        @Override
        public void onConnectRequest(
                long connection, URI peer, DirectBuffer data, int offset, int length) {
            transport.accept(connection, 7);
        }

        @Override
        public void onConnected(long connection, long context) {
            this.connection = connection;
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
        }

        @Override
        public void onNotify(
                long connection, long context, int tag, long regionId, long offset, long length) {
            notifications++;
        }

        @Override
        public void onPeerLost(long connection, long context, String reason) {
            assertThat(reason).isNotBlank();
            assertThat(context).isEqualTo(7);
            lost++;
        }

        @Override
        public void onDisconnected(long connection, long context) {
            disconnected++;
        }
    }

    /** Scheme of the provider under test; the peer opens it by this name, too. */
    protected abstract String scheme();

    /** Opens the transport under test. */
    protected Transport open(TransportContext context) {
        return Transports.open(scheme(), context);
    }

    /** What the peer connects to. */
    protected URI address(Transport transport) {
        return transport.uri();
    }

    /** Looks into the transport, whose peer is lost: nothing of the peer may be left there. */
    protected void expectSound(Transport transport) {}

    @BeforeEach
    final void openTransport() {
        transport =
                open(
                        new TransportContext()
                                .job(job)
                                .peerTimeoutNs(PEER_TIMEOUT_NS)
                                .receiveSlotCount(256)
                                .errorHandler(errors::add));
    }

    private void start() throws IOException {
        start(transport.allocate(1 << 20, RemoteDescriptor.REMOTE_WRITE));
    }

    private void start(RegisteredRegion target) throws IOException {
        transport.listen();
        region = target;
        letter = transport.allocate(RemoteDescriptor.LENGTH, 0);
        region.describe(0, 1 << 20, RemoteDescriptor.REMOTE_WRITE, new RemoteDescriptor())
                .encode(letter.buffer(0, RemoteDescriptor.LENGTH), 0);
        Path log = Files.createTempFile(scheme() + "-peer", ".log");
        log.toFile().deleteOnExit();
        peer =
                new ProcessBuilder(
                                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                                "-XX:TieredStopAtLevel=1",
                                "-XX:+UseSerialGC",
                                "-cp",
                                System.getProperty("java.class.path"),
                                TransportDeathPeer.class.getName(),
                                scheme(),
                                job,
                                address(transport).toString())
                        .redirectErrorStream(true)
                        .redirectOutput(log.toFile())
                        .start();
        until("connected", () -> handler.connection != 0);
        until(
                "letter sent",
                () ->
                        transport.send(handler.connection, letter, 0, RemoteDescriptor.LENGTH, 1, 0)
                                == Transport.ACCEPTED);
        until("traffic", () -> handler.notifications > 20 && handler.messages > 100);
    }

    private void until(String what, java.util.function.BooleanSupplier condition) {
        Await.until(
                () -> what + ", errors " + errors + ", peer alive " + peer.isAlive(),
                () -> {
                    transport.poll(handler, 64);
                    return condition.getAsBoolean();
                });
    }

    private void expectLostOnceAndSound() {
        expectLostOnce();
        expectSound(transport);
        assertThat(errors).isEmpty();
    }

    private void expectLostOnce() {
        until("lost", () -> handler.lost > 0);
        for (int i = 0; i < 5_000; i++) {
            transport.poll(handler, 64);
        }
        assertThat(handler.lost).isEqualTo(1);
        assertThat(handler.disconnected).isZero();
        assertThat(transport.send(handler.connection, letter, 0, 8, 1, 0))
                .isEqualTo(Transport.NOT_CONNECTED);
    }

    @AfterEach
    final void end() throws InterruptedException {
        if (peer != null) {
            peer.destroyForcibly().waitFor();
        }
        if (region != null) {
            region.close();
            letter.close();
        }
        if (transport != null) {
            transport.close();
        }
    }

    @RepeatedTest(5)
    void shouldReportAKilledPeerOnceAndStaySound() throws Exception {
        start();
        peer.destroyForcibly().waitFor();
        expectLostOnceAndSound();
    }

    /** A look at the whole of the transport waits for what the peer was stopped within. */
    @Test
    void shouldReportAStoppedPeerOnce() throws Exception {
        start();
        signal("STOP");
        expectLostOnce();
        signal("CONT");
        expectLostOnceAndSound();
    }

    /** What it had sent arrives or ends; then nobody writes there. */
    @Test
    void shouldGiveMemoryBackThatAKilledPeerWrote() throws Exception {
        assumeTrue((transport.capabilities() & Capability.FOREIGN_MEMORY) != 0);
        OffHeapMemory memory = OffHeapMemories.allocate(1 << 20);
        start(transport.register(memory, RemoteDescriptor.REMOTE_WRITE));
        peer.destroyForcibly().waitFor();
        until("lost", () -> handler.lost > 0);
        region.close();
        until("the memory is its owner's", () -> isClosed(memory));
    }

    private static boolean isClosed(OffHeapMemory memory) {
        try {
            memory.close();
            return true;
        } catch (IllegalStateException e) {
            return false;
        }
    }

    private void signal(String name) throws Exception {
        assertThat(
                        new ProcessBuilder("kill", "-" + name, String.valueOf(peer.pid()))
                                .start()
                                .waitFor())
                .isZero();
    }

    @Test
    void shouldWakeASleeperWhenThePeerIsKilled() throws Exception {
        start();
        peer.destroyForcibly().waitFor();
        long far = transport.nanoTime() + 60_000_000_000L;
        while (handler.lost == 0) {
            assertThat(transport.await(far)).isTrue();
            transport.poll(handler, 64);
        }
        expectLostOnceAndSound();
    }
}
