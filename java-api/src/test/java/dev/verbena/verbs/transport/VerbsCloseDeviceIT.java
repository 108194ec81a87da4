package dev.verbena.verbs.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.verbena.memory.RegisteredRegion;
import dev.verbena.memory.RemoteDescriptor;
import dev.verbena.transport.Transport;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.TransportHandler;
import dev.verbena.verbs.KernelObjects;
import java.net.URI;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.BooleanSupplier;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A transport is closed while its NIC sends again and again to a peer that answers no more. */
@Tag("verbs-device")
@Timeout(180)
class VerbsCloseDeviceIT {
    private static final long PATIENCE_NS = 60_000_000_000L;

    /** One end, and what it was told. */
    private static final class End implements TransportHandler {
        final List<String> reports = new CopyOnWriteArrayList<>();
        final VerbsTransport transport;
        long connection;
        boolean isConnected;
        int completions;

        End(String name) {
            TransportContext context =
                    new TransportContext()
                            .job("close")
                            .name(name)
                            .connectionsMax(4)
                            .receiveSlotCount(64)
                            .creditsPerConnection(8)
                            .messageLengthMax(256)
                            // So long goes the NIC on sending.
                            .peerTimeoutNs(PATIENCE_NS)
                            .errorHandler(e -> reports.add(String.valueOf(e.getMessage())));
            transport = (VerbsTransport) VerbsTesting.open(context);
            transport.listen();
        }

        @Override
        public void onConnectRequest(
                long connection, URI peer, DirectBuffer data, int offset, int length) {
            transport.accept(connection, 0);
        }

        @Override
        public void onConnected(long connection, long context) {
            this.connection = connection;
            isConnected = true;
        }

        @Override
        public void onCompletion(
                long connection, int operation, long context, int status, long value) {
            completions++;
        }
    }

    private static void pollUntil(String what, BooleanSupplier isDone, End... ends) {
        long deadlineNs = System.nanoTime() + PATIENCE_NS;
        while (!isDone.getAsBoolean()) {
            assertThat(deadlineNs - System.nanoTime()).as(what).isPositive();
            for (End end : ends) {
                end.transport.poll(end, 16);
                end.transport.await(System.nanoTime() + 1_000_000);
            }
        }
    }

    @Test
    void shouldLeaveNoKernelObjectBehindWhileThePeerAnswersNoMore() throws Exception {
        VerbsTesting.requireDevice();
        assumeTrue(KernelObjects.canBeCounted(), "no program rdma here (package iproute2)");
        String before = KernelObjects.count();
        End a = new End("a");
        End b = new End("b");
        UnsafeBuffer nothing = new UnsafeBuffer(new byte[0]);
        a.transport.connect(b.transport.uri(), nothing, 0, 0, 0, PATIENCE_NS);
        pollUntil("a connection", () -> a.isConnected && b.isConnected, a, b);
        RegisteredRegion target = b.transport.allocate(4096, RemoteDescriptor.REMOTE_ALL);
        RegisteredRegion source = a.transport.allocate(4096, 0);
        RemoteDescriptor d =
                target.describe(0, 4096, RemoteDescriptor.REMOTE_ALL, new RemoteDescriptor());
        int answer = a.transport.put(a.connection, source, 0, d, 0, 64, 1, 0);
        assertThat(answer).isEqualTo(Transport.ACCEPTED);
        pollUntil("a put that is answered", () -> a.completions == 1, a);

        // As if the wire had been cut: what comes is dropped without an answer.
        b.transport.connections.table().at(0).in.toReset();
        for (long context = 2; context < 5; context++) {
            answer = a.transport.put(a.connection, source, 0, d, 0, 4096, context, 0);
            assertThat(answer).isEqualTo(Transport.ACCEPTED);
        }
        assertThatThrownBy(source::close).isInstanceOf(IllegalStateException.class);
        a.transport.close();
        assertThat(source.isClosed()).isTrue();
        target.close();
        b.transport.close();
        assertThat(a.reports).isEmpty();
        assertThat(b.reports).isEmpty();
        KernelObjects.awaitCount(before);
    }
}
