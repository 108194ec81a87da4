package dev.verbena.jmh.peers;

import io.aeron.Aeron;
import io.aeron.ExclusivePublication;
import io.aeron.Subscription;
import io.aeron.driver.MediaDriver;
import io.aeron.driver.ThreadingMode;
import io.aeron.logbuffer.FragmentHandler;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import org.agrona.concurrent.AgentInvoker;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * Aeron over UDP between two hosts: a ping-pong. Each process has one thread, which drives the
 * media driver and the client too (no other manner has a processor of its own here). Arguments:
 * length, batches of 1,000 round trips, and on the measuring side the other side's address.
 */
public final class AeronUdpPeer {
    private static final String CHANNEL = "aeron:udp?endpoint=%s:%s";
    private static final int PORT = 40_123;
    private static final int STREAM = 1001;

    private final AgentInvoker driver;
    private final AgentInvoker client;
    private final ExclusivePublication publication;
    private final Subscription subscription;
    private final UnsafeBuffer buffer;
    private long received;
    private final FragmentHandler handler = (b, offset, length, header) -> received++;

    private AeronUdpPeer(
            MediaDriver media, Aeron aeron, String ownHost, String otherHost, int length) {
        driver = media.sharedAgentInvoker();
        client = aeron.conductorAgentInvoker();
        subscription = aeron.addSubscription(CHANNEL.formatted(ownHost, PORT), STREAM);
        publication = aeron.addExclusivePublication(CHANNEL.formatted(otherHost, PORT), STREAM);
        buffer = new UnsafeBuffer(ByteBuffer.allocateDirect(length));
    }

    private void drive() {
        driver.invoke();
        client.invoke();
    }

    private void connect() {
        while (!publication.isConnected() || subscription.hasNoImages()) {
            drive();
        }
    }

    private void send() {
        while (publication.offer(buffer, 0, buffer.capacity()) < 0) {
            drive();
        }
        driver.invoke();
    }

    private void receive() {
        long before = received;
        while (received == before) {
            if (subscription.poll(handler, 1) == 0) {
                driver.invoke();
            }
        }
    }

    /** Runs one side. */
    public static void main(String[] arguments) throws Exception {
        int length = Integer.parseInt(arguments[0]);
        PingPong pingPong = TwoHosts.pingPong(Integer.parseInt(arguments[1]));
        String host = arguments.length > 2 ? arguments[2] : null;
        MediaDriver.Context context =
                new MediaDriver.Context()
                        .threadingMode(ThreadingMode.INVOKER)
                        .dirDeleteOnStart(true)
                        .dirDeleteOnShutdown(true);
        context.aeronDirectoryName(
                context.aeronDirectoryName() + "-" + ProcessHandle.current().pid());
        try (SocketChannel link = TwoHosts.join(host);
                MediaDriver media = MediaDriver.launchEmbedded(context);
                Aeron aeron =
                        Aeron.connect(
                                new Aeron.Context()
                                        .aeronDirectoryName(media.aeronDirectoryName())
                                        .useConductorAgentInvoker(true)
                                        .driverAgentInvoker(media.sharedAgentInvoker()))) {
            AeronUdpPeer side =
                    new AeronUdpPeer(
                            media,
                            aeron,
                            hostOf(link.getLocalAddress()),
                            hostOf(link.getRemoteAddress()),
                            length);
            side.connect();
            if (host != null) {
                pingPong.measure(
                        "aeron_udp_lat",
                        length,
                        () -> {
                            side.send();
                            side.receive();
                        });
                return;
            }
            for (long i = pingPong.roundTrips(); i > 0; i--) {
                side.receive();
                side.send();
            }
            side.awaitEnd(link);
        }
    }

    /** What was sent last may have to be sent again. */
    private void awaitEnd(SocketChannel link) throws IOException {
        link.configureBlocking(false);
        ByteBuffer nothing = ByteBuffer.allocate(1);
        while (link.read(nothing) >= 0) {
            drive();
        }
    }

    private static String hostOf(SocketAddress address) {
        return ((InetSocketAddress) address).getAddress().getHostAddress();
    }
}
