package dev.verbena.portals.transport;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.agent.Await;
import dev.verbena.memory.RegisteredRegion;
import dev.verbena.transport.Transport;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.TransportHandler;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Returned credits and answers behind a flood of credits that overruns the system queue. */
@Timeout(60)
class PortalsLostRecordsTest implements TransportHandler {
    private final List<Throwable> errors = new ArrayList<>();
    private PortalsTransport a;
    private PortalsTransport b;
    private long connection;
    private int connectedCount;
    private int receivedCount;
    private int completedCount;
    private boolean isRetaining;
    private long retained;

    @BeforeEach
    void connect() {
        open(1, 4096);
        b.listen();
        connectToB();
        pollUntil("connected", () -> connectedCount == 2);
    }

    private void open(int credits, int slots) {
        a = PortalsTransportProvider.open(context(credits, slots), null);
        b = PortalsTransportProvider.open(context(credits, slots), null);
    }

    private TransportContext context(int credits, int slots) {
        return new TransportContext()
                .job("lost-records-" + ProcessHandle.current().pid())
                .creditsPerConnection(credits)
                .receiveSlotCount(slots)
                .connectionsMax(3)
                .errorHandler(errors::add);
    }

    private void connectToB() {
        a.connect(b.uri(), new UnsafeBuffer(new byte[0]), 0, 0, 1, 10_000_000_000L);
    }

    @AfterEach
    void close() {
        a.close();
        b.close();
        assertThat(errors).isEmpty();
    }

    private void pollUntil(String what, BooleanSupplier isDone) {
        Await.until(
                what,
                () -> {
                    a.poll(this, 10);
                    b.poll(this, 10);
                    return isDone.getAsBoolean();
                });
    }

    /** So many credits of no connection that each event before them is lost at a. */
    private void flood() {
        long target = a.resources().ni.id().target();
        for (int i = 0; i < a.resources().systemQueue.capacity(); i++) {
            b.resources().putCredits(target, 0);
        }
    }

    @Test
    void shouldTakeCreditsAfterALoss() {
        RegisteredRegion source = a.allocate(8, 0);
        assertThat(a.send(connection, source, 0, 8, 1, 0)).isEqualTo(Transport.ACCEPTED);
        flood();
        flood();
        Await.until(
                "received",
                () -> {
                    b.poll(this, 10);
                    return receivedCount == 1;
                });
        pollUntil("credit", () -> a.send(connection, source, 0, 8, 1, 0) == Transport.ACCEPTED);
        assertThat(a.resources().answers.lossCount()).isEqualTo(1);
        pollUntil("received", () -> receivedCount == 2);
        source.close();
    }

    /** Nobody returns them a second time unasked. */
    @Test
    void shouldAskForCreditsThatWereLost() {
        RegisteredRegion source = a.allocate(8, 0);
        for (int sent = 1; sent <= 3; sent++) {
            assertThat(a.send(connection, source, 0, 8, 1, 0)).isEqualTo(Transport.ACCEPTED);
            int count = sent;
            Await.until(
                    "received and returned",
                    () -> {
                        b.poll(this, 10);
                        return receivedCount == count;
                    });
            flood();
            pollUntil("credit", () -> a.connections.find(connection).hasCredit());
            assertThat(a.resources().answers.lossCount()).isEqualTo(sent);
        }
        source.close();
    }

    /** A peer that has taken nothing says so once. */
    @Test
    void shouldAskUntilThePeerAnswers() {
        RegisteredRegion source = a.allocate(8, 0);
        assertThat(a.send(connection, source, 0, 8, 1, 0)).isEqualTo(Transport.ACCEPTED);
        PortalsConnection c = a.connections.find(connection);
        flood();
        flood();
        Await.until(
                "asked",
                () -> {
                    a.poll(this, 10);
                    return c.question() != 0;
                });
        pollUntil("answered", () -> c.question() == 0);
        pollUntil("received", () -> receivedCount == 1);
        pollUntil("credit", c::hasCredit);
        source.close();
    }

    /** It had some left when the others were lost. */
    @Test
    void shouldAskForCreditsWhenItRunsOutOfThemLater() {
        a.close();
        b.close();
        open(4, 4096);
        b.listen();
        connectToB();
        pollUntil("connected", () -> connectedCount == 4);
        RegisteredRegion source = a.allocate(8, 0);
        for (int i = 0; i < 3; i++) {
            assertThat(a.send(connection, source, 0, 8, 1, 0)).isEqualTo(Transport.ACCEPTED);
        }
        Await.until(
                "received and returned",
                () -> {
                    b.poll(this, 10);
                    return b.connections.at(0).takenTold == 3;
                });
        flood();
        pollUntil("recovered", () -> a.resources().answers.lossCount() == 1);
        isRetaining = true;
        assertThat(a.send(connection, source, 0, 8, 1, 0)).isEqualTo(Transport.ACCEPTED);
        pollUntil("received", () -> receivedCount == 4);
        pollUntil("credit", () -> a.connections.find(connection).hasCredit());
        b.release(retained);
        source.close();
    }

    /** Each is returned by itself, for the receiver has nothing else to do. */
    @Test
    void shouldHaveRoomForEveryCredit() {
        a.close();
        b.close();
        open(256, 1024);
        b.listen();
        List<Long> connections = new ArrayList<>();
        for (int i = 1; i <= 3; i++) {
            connectToB();
            int wanted = 2 * i + 2;
            pollUntil("connected", () -> connectedCount == wanted);
            connections.add(connection);
        }
        RegisteredRegion source = a.allocate(8, 0);
        for (long c : connections) {
            for (int k = 0; k < 256; k++) {
                assertThat(a.send(c, source, 0, 8, 1, 0)).isEqualTo(Transport.ACCEPTED);
                for (int idle = 0; idle < 70; idle++) {
                    b.poll(this, 10);
                }
            }
        }
        pollUntil("completed", () -> completedCount == 3 * 256);
        assertThat(a.resources().answers.lossCount()).isZero();
        assertThat(connections).allMatch(c -> a.connections.find(c).takenByPeer == 256);
        source.close();
    }

    @Test
    void shouldFindAnAnswerWhoseEventWasLost() {
        connectToB();
        Await.until(
                "answered",
                () -> {
                    b.poll(this, 10);
                    return connectedCount == 3;
                });
        flood();
        pollUntil("connected", () -> connectedCount == 4);
        assertThat(a.resources().answers.lossCount()).isEqualTo(1);
    }

    @Override
    public void onMessage(
            long c, long context, DirectBuffer buffer, int offset, int length, long token) {
        receivedCount++;
        if (isRetaining) {
            b.retain(token);
            retained = token;
        }
    }

    @Override
    public void onCompletion(long c, int operation, long context, int status, long value) {
        completedCount++;
    }

    @Override
    public void onConnectRequest(long c, URI peer, DirectBuffer data, int offset, int length) {
        b.accept(c, 2);
    }

    @Override
    public void onConnected(long c, long context) {
        connectedCount++;
        if (context == 1) {
            connection = c;
        }
    }
}
