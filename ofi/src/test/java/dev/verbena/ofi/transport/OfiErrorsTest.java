package dev.verbena.ofi.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.agent.Await;
import dev.verbena.memory.OffHeapMemories;
import dev.verbena.memory.OffHeapMemory;
import dev.verbena.ofi.AddressVector;
import dev.verbena.ofi.CompletionQueue;
import dev.verbena.ofi.Domain;
import dev.verbena.ofi.Endpoint;
import dev.verbena.ofi.Fabric;
import dev.verbena.ofi.FabricInfo;
import dev.verbena.ofi.MemoryRegion;
import dev.verbena.transport.Status;
import dev.verbena.transport.Transport;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.TransportException;
import dev.verbena.transport.TransportHandler;
import dev.verbena.transport.Transports;
import java.io.File;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CopyOnWriteArrayList;
import org.agrona.CloseHelper;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/** What goes wrong ends in a clear error, in bounded time, and never in a crash. */
@Timeout(60)
@ExtendWith(NeedsLibfabric.class)
class OfiErrorsTest {
    private static final int RECORD = 512;

    /** For so many errors the error handler throws. */
    private static final int THROWN = 2;

    private final List<Throwable> errors = new CopyOnWriteArrayList<>();
    private final Transport transport = open(new TransportContext());
    private int status;
    private String reason;

    private Transport open(TransportContext context) {
        return Transports.open(
                "ofi",
                context.job("errors-" + ProcessHandle.current().pid())
                        .receiveSlotCount(64)
                        .outstandingMax(64)
                        .connectionsMax(8)
                        .errorHandler(this::onError));
    }

    private void onError(Throwable error) {
        errors.add(error);
        if (errors.size() <= THROWN) {
            throw new AssertionError("thrown by an error handler, which harms nothing");
        }
    }

    @AfterEach
    void close() {
        transport.close();
    }

    private final TransportHandler handler =
            new TransportHandler() {
                @Override
                public void onConnectFailed(long connection, long context, int failed, String why) {
                    status = failed;
                    reason = why;
                }
            };

    private void connect(String uri, long timeoutNs) {
        status = -1;
        transport.connect(URI.create(uri), null, 0, 0, 1, timeoutNs);
        Await.until(
                () -> "the end of " + uri,
                () -> {
                    transport.poll(handler, 8);
                    return status >= 0;
                });
    }

    @Test
    void shouldNameProviderAndRemedyWhenThereIsNoSuchProvider() {
        assertThatThrownBy(() -> open(new TransportContext().option("ofi.provider", "nonesuch")))
                .isInstanceOf(TransportException.class)
                .hasMessageContainingAll("nonesuch", "verbena devices --ofi");
        assertThatThrownBy(() -> open(new TransportContext().option("ofi.provider", "shm")))
                .isInstanceOf(TransportException.class)
                .hasMessageContaining("shm://");
        assertThatThrownBy(() -> open(new TransportContext().option("ofi.nonsense", "1")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("ofi.nonsense");
    }

    @Test
    void shouldRefuseAnAddressOfAnotherProvider() {
        connect("ofi://127.0.0.1:4/?provider=cxi", 5_000_000_000L);
        assertThat(status).isEqualTo(Status.REFUSED);
        assertThat(reason).contains("cxi", "tcp");
    }

    /** The first bytes of a socket address, and no name at all. */
    @Test
    void shouldRefuseANameThatIsNoSocketAddress() {
        for (String name : List.of("020012347f000001", "02")) {
            connect("ofi://local:0/?provider=tcp&endpoint=" + name, 5_000_000_000L);
            assertThat(status).isEqualTo(Status.REFUSED);
            assertThat(reason).contains(name, "tcp");
        }
    }

    /** Each peer is looked for until the attempt ends: its port swallows, for its queue is full. */
    @Test
    void shouldCloseTheSocketsOfAttemptsThatHaveEnded() throws IOException {
        List<AutoCloseable> opened = new ArrayList<>();
        try {
            List<Integer> ports = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                ServerSocket deaf = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                opened.add(deaf);
                ports.add(deaf.getLocalPort());
                for (int k = 0; k < 4; k++) {
                    SocketChannel waiting = SocketChannel.open();
                    opened.add(waiting);
                    waiting.configureBlocking(false);
                    waiting.connect(deaf.getLocalSocketAddress());
                }
            }
            connect("ofi://127.0.0.1:" + ports.get(0) + "/?provider=tcp", 100_000_000L);
            int before = descriptorCount();
            for (int port : ports) {
                connect("ofi://127.0.0.1:" + port + "/?provider=tcp", 100_000_000L);
                assertThat(status).isEqualTo(Status.TIMED_OUT);
            }
            assertThat(descriptorCount()).isLessThanOrEqualTo(before);
        } finally {
            CloseHelper.closeAll(opened);
        }
    }

    private static int descriptorCount() {
        return new File("/proc/self/fd").list().length;
    }

    @Test
    void shouldTimeOutAtAPortThatSwallows() throws IOException {
        try (ServerSocket deaf = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            connect("ofi://127.0.0.1:" + deaf.getLocalPort() + "/?provider=tcp", 300_000_000L);
        }
        assertThat(status).isEqualTo(Status.TIMED_OUT);
        assertThat(reason).contains("127.0.0.1", "tcp", "firewall", "ofi.port");
    }

    /**
     * No TCP connection goes to a multicast address: Linux says that its network is unreachable.
     */
    @Test
    void shouldSayThatAnAddressCannotBeReached() {
        connect("ofi://224.0.0.1:4/?provider=tcp", 300_000_000L);
        assertThat(status).isIn(Status.TIMED_OUT, Status.PEER_DEAD);
        assertThat(reason).contains("224.0.0.1", "tcp", "firewall", "ofi.host");
    }

    @Test
    void shouldRefuseAProviderThatInjectsTooLittle() {
        assertThat(OfiTransportProvider.injectionCause("small", 63))
                .contains("'small'", "63 bytes", "64", "ofi.provider");
        assertThat(OfiTransportProvider.injectionCause("tcp;ofi_rxm", 64)).isNull();
    }

    @Test
    void shouldSayThatNobodyListensWhenThePortIsClosed() throws IOException {
        int port;
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = socket.getLocalPort();
        }
        connect("ofi://127.0.0.1:" + port + "/", 5_000_000_000L);
        assertThat(status).isIn(Status.NOT_LISTENING, Status.TIMED_OUT);
    }

    @Test
    void shouldRefuseAnotherJob() {
        Transport other =
                Transports.open(
                        "ofi",
                        new TransportContext()
                                .job("another")
                                .receiveSlotCount(64)
                                .outstandingMax(64)
                                .errorHandler(errors::add));
        try {
            other.listen();
            status = -1;
            transport.connect(other.uri(), null, 0, 0, 1, 10_000_000_000L);
            Await.until(
                    () -> "the refusal",
                    () -> {
                        other.poll(TransportHandler.IGNORE, 8);
                        transport.poll(handler, 8);
                        return status >= 0;
                    });
            assertThat(status).isEqualTo(Status.REFUSED);
            assertThat(reason).contains("another job");
        } finally {
            other.close();
        }
    }

    @Test
    void shouldExplainProviderAndReason() {
        assertThat(transport.explain()).contains("libfabric 1.", "tcp", transport.uri().toString());
        assertThat(transport.uri().toString()).startsWith("ofi://").contains("provider=tcp");
    }

    /** A foreign endpoint sends noise, and noise that begins as our records do. */
    @Test
    void shouldSurviveWhenAStrangerSendsNonsense() throws Exception {
        transport.listen();
        Random random = new Random(7);
        try (FabricInfo info =
                        FabricInfo.first("tcp", "", "", FabricInfo.MESSAGES | FabricInfo.RMA);
                Fabric fabric = Fabric.open(info);
                Domain domain = fabric.domain(info);
                AddressVector peers = domain.addressVector(4);
                CompletionQueue queue = domain.completionQueue(256, false);
                Endpoint endpoint = domain.endpoint(queue, peers, null);
                OffHeapMemory memory = OffHeapMemories.allocate(RECORD);
                MemoryRegion region = domain.register(memory, MemoryRegion.SEND, 5, endpoint)) {
            long peer = peers.insert(OfiAddress.of(transport.uri()).endpointName());
            int[] ended = new int[1];
            for (int i = 0; i < 400; i++) {
                byte[] bytes = new byte[RECORD];
                random.nextBytes(bytes);
                if (i % 2 == 0) {
                    bytes[0] = 1;
                    bytes[1] = (byte) random.nextInt(26);
                    bytes[2] = 0;
                    bytes[3] = 0;
                }
                memory.buffer(0, RECORD).putBytes(0, bytes);
                int length = i % 4 == 0 ? 448 : random.nextInt(RECORD + 1);
                int before = ended[0];
                Await.until(
                        () -> "a send is taken",
                        () -> {
                            transport.poll(handler, 8);
                            queue.poll((context, size, code) -> ended[0]++);
                            return endpoint.send(region, 0, length, peer, 3) == 0;
                        });
                Await.until(
                        () -> "a send has ended",
                        () -> {
                            transport.poll(handler, 8);
                            queue.poll((context, size, code) -> ended[0]++);
                            return ended[0] > before;
                        });
            }
        }
        for (int i = 0; i < 1000; i++) {
            transport.poll(handler, 8);
        }
        assertThat(errors).hasSizeGreaterThan(THROWN);
        try (Transport other = open(new TransportContext())) {
            boolean[] connected = new boolean[1];
            other.connect(transport.uri(), null, 0, 0, 1, 10_000_000_000L);
            Await.until(
                    () -> "a connection after the nonsense; " + errors,
                    () -> {
                        transport.poll(
                                new TransportHandler() {
                                    @Override
                                    public void onConnectRequest(
                                            long connection,
                                            URI uri,
                                            org.agrona.DirectBuffer data,
                                            int offset,
                                            int length) {
                                        transport.accept(connection, 1);
                                    }
                                },
                                8);
                        other.poll(
                                new TransportHandler() {
                                    @Override
                                    public void onConnected(long connection, long context) {
                                        connected[0] = true;
                                    }
                                },
                                8);
                        return connected[0];
                    });
        }
    }
}
