package dev.verbena.ofi.transport;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.agent.Await;
import dev.verbena.transport.Transport;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.TransportHandler;
import dev.verbena.transport.Transports;
import dev.verbena.transport.core.ConnectionLife;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.agrona.CloseHelper;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/** Peers that ask and take no answers: at their addresses are ports where nobody reads. */
@Timeout(60)
@ExtendWith(NeedsLibfabric.class)
class OfiOutboxTest {
    private static final int SLOT = 0;
    private static final int SHARE = 256;
    private static final int HALF = 2048;
    private static final String JOB = "outbox";

    private final TransportContext context = new TransportContext().job(JOB);
    private final OfiTransport transport =
            (OfiTransport) Transports.open("ofi", context.option("ofi.progress", "caller"));
    private final Records records = new Records(transport.parts, transport.connections, context);
    private final UnsafeBuffer bytes = transport.parts.slots.slot(SLOT);
    private final List<AutoCloseable> opened = new ArrayList<>();

    @AfterEach
    void close() {
        transport.close();
        CloseHelper.closeAll(opened);
    }

    private OfiConnection connected(long incarnation) throws IOException {
        ServerSocket deaf = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        opened.add(deaf);
        URI uri = URI.create("ofi://127.0.0.1:" + deaf.getLocalPort() + "/?provider=tcp");
        long handle = transport.connect(uri, null, 0, 0, 1, 30_000_000_000L);
        ControlRecord accept = new ControlRecord().wrap(bytes, 0);
        accept.sender(incarnation, 0, 1_000_000_000L, OfiAddress.of(uri).endpointName());
        accept.write(ConnectionLife.ACCEPT, (int) handle, 1, 1, 64, null);
        records.onArrived(SLOT, ControlRecord.LENGTH);
        return transport.connections.find(handle);
    }

    private void ask(OfiConnection c) {
        Wire.header(bytes, 0, Wire.ASK_KEY, c.handle, 0, 0, 0, c.peerIncarnation);
        Wire.place(bytes, 0, 5, 0, 0, 0);
        records.onArrived(SLOT, Wire.SHORT);
    }

    /** A real one, which takes something whenever it polls. */
    private static final class Peer implements TransportHandler, AutoCloseable {
        final Transport transport =
                Transports.open(
                        "ofi", new TransportContext().job(JOB).option("ofi.progress", "caller"));
        int ends;

        @Override
        public void onConnectRequest(
                long connection, URI uri, DirectBuffer data, int offset, int length) {
            transport.accept(connection, 1);
        }

        @Override
        public void onDisconnected(long connection, long context) {
            ends++;
        }

        @Override
        public void close() {
            transport.close();
        }
    }

    private void pollUntil(Peer peer, BooleanSupplier condition) {
        Await.until(
                "the peer",
                () -> {
                    transport.poll(peer, 8);
                    peer.transport.poll(peer, 8);
                    return condition.getAsBoolean();
                });
    }

    private OfiConnection connected(Peer peer) {
        long handle = transport.connect(peer.transport.uri(), null, 0, 0, 1, 30_000_000_000L);
        OfiConnection c = transport.connections.find(handle);
        pollUntil(peer, () -> c.state == OfiConnection.CONNECTED);
        return c;
    }

    /** Signs of life pass for the sake of the other connection: they say nothing of this one. */
    @Test
    void shouldTellAPeerThatTakesSomethingAgainWhichConnectionItLost() {
        Peer peer = new Peer();
        opened.add(peer);
        peer.transport.listen();
        OfiConnection lost = connected(peer);
        OfiConnection other = connected(peer);
        lost.peer.waits(1);
        while (!lost.isLost) {
            records.onQuiet(lost, 5);
        }
        lost.peer.waits(-1);
        pollUntil(peer, () -> peer.ends > 0);
        assertThat(other.state).isEqualTo(OfiConnection.CONNECTED);
    }

    @Test
    void shouldTryAnAnswerAgainForSomeTimeHoweverOftenItIsTried() throws IOException {
        OfiPeer peer = connected(71).peer;
        Answers answers = new Answers(transport.parts.controls);
        answers.send(peer, ConnectionLife.DISCONNECT, 1, ControlRecord.GIVEN_UP);
        for (int i = 0; i < 1000; i++) {
            answers.retry();
        }
        assertThat(answers.isEmpty()).isFalse();
    }

    @Test
    void shouldLosePeersThatTakeNoAnswersAndKeepRoomForOthers() throws IOException {
        OfiConnection asks = connected(71);
        OfiConnection revokes = connected(72);
        OfiConnection other = connected(73);
        for (int i = 0; i < SHARE; i++) {
            records.onQuiet(revokes, i);
        }
        for (int i = SHARE; i < HALF; i++) {
            records.onQuiet(asks, i);
        }
        assertThat(asks.isLost || revokes.isLost).as("while there is room").isFalse();
        ask(asks);
        assertThat(asks.isLost).isTrue();
        records.onQuiet(revokes, SHARE);
        assertThat(revokes.isLost).isTrue();
        ask(other);
        assertThat(other.isLost).isFalse();
        assertThat(other.peer.hasWaiting()).isTrue();
    }
}
