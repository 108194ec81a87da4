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

    @BeforeEach
    void connect() {
        a = open();
        b = open();
        b.listen();
        connectToB();
        pollUntil("connected", () -> connectedCount == 2);
    }

    private PortalsTransport open() {
        return PortalsTransportProvider.open(
                new TransportContext()
                        .job("lost-records-" + ProcessHandle.current().pid())
                        .creditsPerConnection(1)
                        .errorHandler(errors::add),
                null);
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
