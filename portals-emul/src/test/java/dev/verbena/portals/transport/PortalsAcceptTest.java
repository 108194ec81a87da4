package dev.verbena.portals.transport;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.agent.Await;
import dev.verbena.memory.RegisteredRegion;
import dev.verbena.memory.RemoteDescriptor;
import dev.verbena.portals.PortalsOutcome;
import dev.verbena.transport.Transport;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.TransportHandler;
import dev.verbena.transport.core.ConnectionLife;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What the accepting side sends while its ACCEPT is under way, or cannot be sent yet. */
@Timeout(60)
class PortalsAcceptTest {
    private static final int RECORDS_BEFORE = 1_100;
    private static final int TRIES_MAX = 10_000;
    private static final long CONNECT_NS = 20_000_000_000L;

    private final List<Throwable> errors = new ArrayList<>();
    private final Ears connecting = new Ears();
    private final Ears accepting = new Ears();
    private final RemoteDescriptor descriptor = new RemoteDescriptor();
    private PortalsTransport a;
    private PortalsTransport b;
    private RegisteredRegion source;
    private RegisteredRegion target;

    /** What one side hears, in order. */
    private static final class Ears implements TransportHandler {
        final List<String> heard = new ArrayList<>();
        long offered;
        long connected;
        int completions;

        @Override
        public void onConnectRequest(long c, URI peer, DirectBuffer data, int offset, int length) {
            offered = c;
        }

        @Override
        public void onConnected(long c, long context) {
            heard.add("connected");
            connected = c;
        }

        @Override
        public void onCompletion(long c, int operation, long context, int status, long value) {
            completions++;
        }

        @Override
        public void onMessage(
                long c, long context, DirectBuffer buffer, int offset, int length, long token) {
            heard.add("message " + buffer.getByte(offset));
        }

        @Override
        public void onNotify(long c, long context, int tag, long region, long offset, long length) {
            heard.add("notification " + tag);
        }
    }

    private PortalsTransport open() {
        return PortalsTransportProvider.open(
                new TransportContext()
                        .job("accept-" + ProcessHandle.current().pid())
                        .connectionsMax(128)
                        .receiveSlotCount(4096)
                        .errorHandler(errors::add),
                null);
    }

    /** One asks, the other has heard of it and has not answered. */
    @BeforeEach
    void ask() {
        a = open();
        b = open();
        b.listen();
        a.connect(b.uri(), new UnsafeBuffer(new byte[0]), 0, 0, 1, CONNECT_NS);
        Await.until(
                "asked",
                () -> {
                    b.poll(accepting, 10);
                    return accepting.offered != 0;
                });
        source = b.allocate(64, 0);
        source.buffer(0, 64).putByte(0, (byte) 7);
        target = a.allocate(64, RemoteDescriptor.REMOTE_WRITE);
        target.describe(0, 64, RemoteDescriptor.REMOTE_WRITE, descriptor);
    }

    @AfterEach
    void close() {
        source.close();
        target.close();
        a.close();
        b.close();
        assertThat(errors).isEmpty();
    }

    private long connectingProcess() {
        return a.resources().ni.id().target();
    }

    private void fillWithCredits() {
        for (int i = 0; i < RECORDS_BEFORE; i++) {
            assertThat(b.resources().putCredits(connectingProcess(), 0))
                    .isEqualTo(PortalsOutcome.DELIVERED);
        }
    }

    /** Disconnects for a connection that is not there, until no more are taken. */
    private void fillWithRecords() {
        int outcome = PortalsOutcome.DELIVERED;
        for (int i = 0; i < TRIES_MAX && outcome == PortalsOutcome.DELIVERED; i++) {
            b.resources().record.write(ConnectionLife.DISCONNECT, 1, 0, 0, 0, null);
            outcome = b.resources().putRecord(connectingProcess(), PortalsResources.ANSWER_BITS);
        }
        assertThat(outcome).isEqualTo(PortalsOutcome.DROPPED);
    }

    private int send() {
        return b.send(accepting.offered, source, 0, 8, 3, 0);
    }

    private void shouldHear(String what) {
        Await.until(
                what,
                () -> {
                    b.poll(accepting, 10);
                    a.poll(connecting, 10);
                    return connecting.heard.size() >= 2;
                });
        assertThat(connecting.heard).containsExactly("connected", what);
    }

    @Test
    void shouldHoldAMessageUntilItsAcceptIsFoundBehindManyRecords() {
        fillWithCredits();
        assertThat(b.accept(accepting.offered, 2)).isEqualTo(Transport.ACCEPTED);
        assertThat(send()).isEqualTo(Transport.ACCEPTED);
        shouldHear("message 7");
    }

    @Test
    void shouldHoldANotificationUntilItsAcceptIsFoundBehindManyRecords() {
        fillWithCredits();
        assertThat(b.accept(accepting.offered, 2)).isEqualTo(Transport.ACCEPTED);
        assertThat(b.putNotify(accepting.offered, source, 0, descriptor, 0, 8, 5, 3, 0))
                .isEqualTo(Transport.ACCEPTED);
        shouldHear("notification 5");
    }

    @Test
    void shouldTakeNoMoreInAPollThanItsLimitThoughNobodyIsTold() {
        assertThat(b.accept(accepting.offered, 2)).isEqualTo(Transport.ACCEPTED);
        Await.until("connected", () -> a.poll(connecting, 10) > 0 && connecting.connected != 0);
        for (int i = 0; i < 3; i++) {
            assertThat(send()).isEqualTo(Transport.ACCEPTED);
            assertThat(b.putNotify(accepting.offered, source, 0, descriptor, 0, 8, 5, 3, 0))
                    .isEqualTo(Transport.ACCEPTED);
        }
        a.disconnect(connecting.connected);
        for (int i = 0; i < 3; i++) {
            assertThat(a.resources().messageQueue.isEmpty()).isFalse();
            assertThat(a.resources().notifyQueue.isEmpty()).isFalse();
            a.poll(connecting, 1);
        }
        assertThat(a.resources().messageQueue.isEmpty()).isTrue();
        assertThat(a.resources().notifyQueue.isEmpty()).isTrue();
        assertThat(connecting.heard).containsExactly("connected");
        Await.until("completed", () -> b.poll(accepting, 10) >= 0 && accepting.completions == 6);
    }

    @Test
    void shouldSendNothingBeforeItsAccept() {
        fillWithRecords();
        assertThat(b.accept(accepting.offered, 2)).isEqualTo(Transport.ACCEPTED);
        assertThat(send()).isEqualTo(Transport.NOT_CONNECTED);
        assertThat(b.put(accepting.offered, source, 0, descriptor, 0, 8, 3, 0))
                .isEqualTo(Transport.NOT_CONNECTED);
        Await.until(
                "accepted",
                () -> {
                    b.poll(accepting, 10);
                    a.poll(connecting, 10);
                    return !accepting.heard.isEmpty();
                });
        assertThat(send()).isEqualTo(Transport.ACCEPTED);
        shouldHear("message 7");
    }
}
