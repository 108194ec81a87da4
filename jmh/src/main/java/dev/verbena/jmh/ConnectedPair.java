package dev.verbena.jmh;

import dev.verbena.memory.RegisteredRegion;
import dev.verbena.memory.RemoteDescriptor;
import dev.verbena.transport.Transport;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.TransportHandler;
import dev.verbena.transport.Transports;
import java.net.URI;
import org.agrona.CloseHelper;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * Two transports of one process, connected: the initiator belongs to the benchmark's thread, the
 * target to a thread of its own that polls until closed. What is measured is what the initiator
 * does; between processes measures {@code verbena lat}.
 */
final class ConnectedPair implements AutoCloseable {
    private static final long CONNECT_TIMEOUT_NS = 10_000_000_000L;

    final Transport initiator;
    final RegisteredRegion source;
    final RemoteDescriptor descriptor = new RemoteDescriptor();
    final long connection;
    private final Transport[] targetTransport = new Transport[1];
    private final Thread targetThread;
    private volatile boolean running = true;
    private volatile URI targetUri;
    private volatile Throwable failure;
    private volatile boolean connected;

    ConnectedPair(String scheme, int regionLength) {
        String job = "jmh-" + ProcessHandle.current().pid() + "-" + Long.toHexString(hashCode());
        targetThread = new Thread(() -> runTarget(scheme, job, regionLength), "benchmark-target");
        targetThread.setDaemon(true);
        targetThread.start();
        while (targetUri == null) {
            check();
            Thread.onSpinWait();
        }
        initiator = Transports.open(scheme, new TransportContext().job(job).name("initiator"));
        source = initiator.allocate(regionLength, 0);
        connection =
                initiator.connect(
                        targetUri, new UnsafeBuffer(new byte[0]), 0, 0, 1, CONNECT_TIMEOUT_NS);
        TransportHandler connecting =
                new TransportHandler() {
                    @Override
                    public void onConnected(long handle, long context) {
                        connected = true;
                    }

                    @Override
                    public void onConnectFailed(
                            long handle, long context, int status, String reason) {
                        failure = new IllegalStateException("connect failed: " + reason);
                    }
                };
        while (!connected) {
            check();
            initiator.poll(connecting, 16);
        }
    }

    private void check() {
        if (failure != null) {
            throw new IllegalStateException("benchmark target failed", failure);
        }
    }

    private void runTarget(String scheme, String job, int regionLength) {
        try (Transport target =
                        Transports.open(scheme, new TransportContext().job(job).name("target"));
                RegisteredRegion region =
                        target.allocate(regionLength, RemoteDescriptor.REMOTE_ALL)) {
            region.describe(0, regionLength, RemoteDescriptor.REMOTE_ALL, descriptor);
            target.listen();
            targetTransport[0] = target;
            targetUri = target.uri();
            TransportHandler accepting =
                    new TransportHandler() {
                        @Override
                        public void onConnectRequest(
                                long handle,
                                URI peer,
                                DirectBuffer privateData,
                                int offset,
                                int length) {
                            target.accept(handle, 2);
                        }
                    };
            while (running) {
                if (target.poll(accepting, 64) == 0) {
                    Thread.onSpinWait();
                }
            }
        } catch (Throwable t) {
            failure = t;
        }
    }

    @Override
    public void close() {
        TransportHandler nothing = TransportHandler.IGNORE;
        while (initiator.poll(nothing, 64) > 0) {
            Thread.onSpinWait();
        }
        initiator.disconnect(connection);
        CloseHelper.closeAll(source, initiator);
        running = false;
        try {
            targetThread.join(10_000);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
