package dev.verbena.ugni.transport;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.agent.Await;
import dev.verbena.memory.RegisteredRegion;
import dev.verbena.memory.RemoteDescriptor;
import dev.verbena.transport.Transport;
import dev.verbena.transport.TransportException;
import dev.verbena.transport.TransportHandler;
import dev.verbena.transport.Transports;
import java.net.URI;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.agrona.DirectBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A peer is stopped while it writes to memory that is to be given back. */
@Timeout(value = 120, unit = TimeUnit.SECONDS)
class GniStoppedPeerTest {
    /** It is nearly always inside, and may be stopped outside. */
    private static final int ATTEMPTS = 20;

    private static final long PEER_TIMEOUT_NS = 200_000_000L;

    private final Counting handler = new Counting();
    private GniTransport transport;
    private RegisteredRegion region;
    private Process peer;

    private final class Counting implements TransportHandler {
        long connection;
        int messages;
        int lost;

        @Override
        public void onConnectRequest(
                long connection, URI peer, DirectBuffer data, int offset, int length) {
            transport.accept(connection, 0);
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
        public void onPeerLost(long connection, long context, String reason) {
            lost++;
        }
    }

    private void start(boolean isPutting, int attempt) throws Exception {
        String job = "stopped-" + ProcessHandle.current().pid() + "-" + isPutting + attempt;
        transport =
                (GniTransport)
                        Transports.open(
                                "gni", GniStoppedPeer.context(job).peerTimeoutNs(PEER_TIMEOUT_NS));
        transport.listen();
        handler.connection = 0;
        handler.messages = 0;
        handler.lost = 0;
        peer =
                new ProcessBuilder(
                                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                                "-XX:TieredStopAtLevel=1",
                                "-XX:+UseSerialGC",
                                "-cp",
                                System.getProperty("java.class.path"),
                                GniStoppedPeer.class.getName(),
                                job,
                                transport.uri().toString(),
                                String.valueOf(isPutting))
                        .inheritIO()
                        .start();
        until("connected", () -> handler.connection != 0);
    }

    private void until(String what, BooleanSupplier condition) {
        Await.until(
                () -> what + ", peer alive " + peer.isAlive(),
                () -> {
                    transport.poll(handler, 64);
                    return condition.getAsBoolean();
                });
    }

    /** Credits return meanwhile: the peer does not wait for them. */
    private void signal(String name) throws Exception {
        Process kill = new ProcessBuilder("kill", "-" + name, String.valueOf(peer.pid())).start();
        until("signal " + name, () -> !kill.isAlive());
        assertThat(kill.exitValue()).isZero();
    }

    @AfterEach
    void end() throws InterruptedException {
        if (peer != null) {
            peer.destroyForcibly().waitFor();
        }
        if (region != null) {
            region.close();
        }
        if (transport != null) {
            transport.close();
        }
    }

    @Test
    void shouldKeepARegionUntilAStoppedPeerHasLeftIt() throws Exception {
        TransportException refusal = null;
        for (int i = 0; i < ATTEMPTS && refusal == null; i++) {
            end();
            start(true, i);
            region = transport.allocate(GniStoppedPeer.LENGTH, RemoteDescriptor.REMOTE_WRITE);
            tellRegion();
            refusal = refusalUnderAStoppedPut();
        }
        assertThat(refusal)
                .hasMessageContaining("GNI_MemDeregister: GNI_RC_TIMEOUT")
                .hasMessageContaining("try again");
        assertThat(region.isClosed()).isFalse();
        signal("CONT");
        region.close();
        assertThat(region.isClosed()).isTrue();
    }

    private void tellRegion() {
        RegisteredRegion letter = transport.allocate(RemoteDescriptor.LENGTH, 0);
        region.describe(0, region.length(), RemoteDescriptor.REMOTE_WRITE, new RemoteDescriptor())
                .encode(letter.buffer(0, RemoteDescriptor.LENGTH), 0);
        until(
                "letter sent",
                () ->
                        transport.send(handler.connection, letter, 0, RemoteDescriptor.LENGTH, 1, 0)
                                == Transport.ACCEPTED);
        until("put", () -> region.buffer(0, 1).getByte(0) != 0);
        letter.close();
    }

    /** What close says; null: the peer was outside. */
    private TransportException refusalUnderAStoppedPut() throws Exception {
        signal("STOP");
        try {
            region.close();
            return null;
        } catch (TransportException e) {
            return e;
        }
    }

    /** What the peer writes there later must not appear in the next connection. */
    @Test
    void shouldNotUseAMailboxAgainThatAStoppedPeerWritesTo() throws Exception {
        boolean isAbandoned = false;
        for (int i = 0; i < ATTEMPTS && !isAbandoned; i++) {
            end();
            start(false, i);
            until("traffic", () -> handler.messages > 2);
            assertThat(transport.connections.at(0).mailbox).isNotZero();
            signal("STOP");
            until("lost", () -> handler.lost > 0);
            until("slot free", () -> transport.connections.at(0).state == GniConnection.FREE);
            isAbandoned = transport.connections.at(0).mailbox == 0;
            signal("CONT");
        }
        assertThat(isAbandoned).isTrue();
    }
}
