package dev.verbena.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.transport.Transport;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.TransportHandler;
import dev.verbena.transport.Transports;
import java.net.URI;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

/** One end of {@code verbs://} over the stub, as a rule the device that completes nothing. */
final class VerbsStubEnd implements TransportHandler, AutoCloseable {
    private static final long PATIENCE_NS = 60_000_000_000L;

    final List<String> reports = new CopyOnWriteArrayList<>();
    final Transport transport;
    long connection;
    boolean isConnected;
    boolean isDisconnected;
    String lost = "";
    String failed = "";
    final List<Integer> failures = new CopyOnWriteArrayList<>();

    VerbsStubEnd(String name) {
        this(name, PATIENCE_NS);
    }

    VerbsStubEnd(String name, long peerTimeoutNs) {
        this(name, peerTimeoutNs, VerbsStub.NOTHING);
    }

    VerbsStubEnd(String name, long peerTimeoutNs, String device) {
        transport =
                Transports.open(
                        "verbs",
                        new TransportContext()
                                .job("news")
                                .name(name)
                                .option("device", device)
                                .option("address", "127.0.0.1")
                                .connectionsMax(4)
                                .receiveSlotCount(64)
                                .creditsPerConnection(8)
                                .messageLengthMax(256)
                                .peerTimeoutNs(peerTimeoutNs)
                                .errorHandler(error -> reports.add(error.getMessage())));
        transport.listen();
    }

    @Override
    public void onConnectRequest(
            long connection, URI peer, DirectBuffer data, int offset, int length) {
        this.connection = connection;
        transport.accept(connection, 0);
    }

    @Override
    public void onConnected(long connection, long context) {
        isConnected = true;
    }

    @Override
    public void onConnectFailed(long connection, long context, int status, String reason) {
        failed = reason;
        failures.add(status);
    }

    @Override
    public void onDisconnected(long connection, long context) {
        isDisconnected = true;
    }

    @Override
    public void onPeerLost(long connection, long context, String reason) {
        lost = reason;
    }

    void connect(Transport peer) {
        UnsafeBuffer nothing = new UnsafeBuffer(new byte[0]);
        connection = transport.connect(peer.uri(), nothing, 0, 0, 0, PATIENCE_NS);
    }

    @Override
    public void close() {
        transport.close();
    }

    /** Lets these ends work until it is done; for a minute at most. */
    static void pollUntil(BooleanSupplier isDone, VerbsStubEnd... ends) {
        long deadlineNs = System.nanoTime() + PATIENCE_NS;
        while (!isDone.getAsBoolean()) {
            assertThat(System.nanoTime() - deadlineNs).as("not within a minute").isNegative();
            for (VerbsStubEnd end : ends) {
                end.transport.poll(end, 16);
            }
            LockSupport.parkNanos(1_000_000);
        }
    }
}
