package dev.verbena.shm;

import dev.verbena.memory.RegisteredRegion;
import dev.verbena.memory.RemoteDescriptor;
import dev.verbena.transport.Transport;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.Transports;
import java.io.File;
import java.io.IOException;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * A process of its own that connects to an address and then does what its mode says until it is
 * killed or the connection ends. Run by {@link ShmProcessIT}.
 */
public final class ShmChild {
    private ShmChild() {}

    /** Modes: idle, send, put, echo. */
    public static void main(String[] arguments) {
        String mode = arguments[0];
        TransportContext context =
                new TransportContext()
                        .job(arguments[1])
                        .name("child")
                        .peerTimeoutNs(1_000_000_000L);
        try (Transport transport = Transports.open("shm", context);
                RegisteredRegion region =
                        transport.allocate(1 << 20, RemoteDescriptor.REMOTE_ALL)) {
            new Running(mode, transport, region).run(URI.create(arguments[2]));
        }
    }

    /** Starts a child; its output goes to this process's. */
    static Process start(String mode, String job, URI peer) throws IOException {
        List<String> command = new ArrayList<>();
        command.add(System.getProperty("java.home") + File.separator + "bin/java");
        command.addAll(List.of("-Xmx64m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-ea"));
        command.addAll(List.of("-cp", System.getProperty("java.class.path")));
        command.addAll(List.of(ShmChild.class.getName(), mode, job, peer.toString()));
        return new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.INHERIT)
                .start();
    }

    private static final class Running extends Pair.Seen {
        private final String mode;
        private final RegisteredRegion region;
        private final UnsafeBuffer bytes;
        private final RemoteDescriptor target = new RemoteDescriptor();
        private boolean isTargetKnown;
        private long sent;

        Running(String mode, Transport transport, RegisteredRegion region) {
            this.mode = mode;
            this.transport = transport;
            this.region = region;
            this.bytes = region.buffer(0, 1 << 20);
        }

        void run(URI peer) {
            UnsafeBuffer descriptor = new UnsafeBuffer(new byte[RemoteDescriptor.LENGTH]);
            region.describe(0, region.length(), RemoteDescriptor.REMOTE_ALL, new RemoteDescriptor())
                    .encode(descriptor, 0);
            long connection =
                    transport.connect(
                            peer, descriptor, 0, RemoteDescriptor.LENGTH, 0, Pair.TIMEOUT_NS);
            while (ends.isEmpty()) {
                if (connected != 0) {
                    work(connection);
                }
                if (transport.poll(this, 64) == 0 && !mode.equals("put")) {
                    transport.await(transport.nanoTime() + 100_000_000L);
                }
            }
        }

        private void work(long connection) {
            statuses.clear();
            contexts.clear();
            values.clear();
            order.clear();
            if (mode.equals("send")) {
                bytes.putLong(0, sent);
                if (transport.send(connection, region, 0, 64, sent, 0) == Transport.ACCEPTED) {
                    sent++;
                }
            } else if (mode.equals("put") && isTargetKnown) {
                bytes.putLong(0, ++sent);
                transport.putNotify(connection, region, 0, target, 0, 1 << 20, (int) sent, sent, 0);
                transport.fetchAdd(connection, target, 8, 1, sent, 0);
            }
        }

        @Override
        public void onMessage(
                long connection,
                long context,
                DirectBuffer buffer,
                int offset,
                int length,
                long token) {
            if (mode.equals("echo")) {
                buffer.getBytes(offset, bytes, 0, length);
                if (transport.send(connection, region, 0, length, 0, 0) != Transport.ACCEPTED) {
                    throw new IllegalStateException("echo was not accepted");
                }
            } else {
                target.decode(buffer, offset);
                isTargetKnown = true;
            }
        }
    }
}
