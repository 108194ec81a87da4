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
    private final Thread targetThread;
    private volatile boolean running = true;
    private volatile URI targetUri;
    private volatile Throwable failure;

    /** Waits until a connection is there. */
    private static final class Connecting implements TransportHandler {
        private boolean isConnected;

        @Override
        public void onConnected(long handle, long context) {
            isConnected = true;
        }

        @Override
        public void onConnectFailed(long handle, long context, int status, String reason) {
            throw new IllegalStateException("connect failed: " + reason);
        }
    }

    ConnectedPair(String scheme, int regionLength) {
        String job = "jmh-" + ProcessHandle.current().pid() + "-" + Long.toHexString(hashCode());
        targetThread = new Thread(() -> runTarget(scheme, job, regionLength), "benchmark-target");
        targetThread.setDaemon(true);
        targetThread.start();
        while (targetUri == null) {
            if (failure != null) {
                throw new IllegalStateException("benchmark target failed", failure);
            }
            Thread.onSpinWait();
        }
        initiator = Transports.open(scheme, new TransportContext().job(job).name("initiator"));
        source = initiator.allocate(regionLength, 0);
        connection = connected();
    }

    private long connected() {
        try {
            return connect(initiator, targetUri);
        } catch (IllegalStateException e) {
            if (failure != null) {
                e.addSuppressed(failure);
            }
            throw e;
        }
    }

    /** Connects to one that polls elsewhere. */
    static long connect(Transport transport, URI target) {
        UnsafeBuffer nothing = new UnsafeBuffer(new byte[0]);
        long connection = transport.connect(target, nothing, 0, 0, 1, CONNECT_TIMEOUT_NS);
        Connecting connecting = new Connecting();
        while (!connecting.isConnected) {
            transport.poll(connecting, 16);
        }
        return connection;
    }

    /** Accepts every connection. */
    static TransportHandler accepting(Transport target) {
        return new TransportHandler() {
            @Override
            public void onConnectRequest(
                    long handle, URI peer, DirectBuffer data, int offset, int length) {
                target.accept(handle, 2);
            }
        };
    }

    private void runTarget(String scheme, String job, int regionLength) {
        try (Transport target =
                        Transports.open(scheme, new TransportContext().job(job).name("target"));
                RegisteredRegion region =
                        target.allocate(regionLength, RemoteDescriptor.REMOTE_ALL)) {
            region.describe(0, regionLength, RemoteDescriptor.REMOTE_ALL, descriptor);
            target.listen();
            targetUri = target.uri();
            TransportHandler accepting = accepting(target);
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
