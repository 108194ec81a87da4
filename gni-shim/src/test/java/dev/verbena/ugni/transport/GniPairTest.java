package dev.verbena.ugni.transport;

import static dev.verbena.transport.Transport.ACCEPTED;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.verbena.agent.Await;
import dev.verbena.memory.RegisteredRegion;
import dev.verbena.memory.RemoteDescriptor;
import dev.verbena.transport.Status;
import dev.verbena.transport.TestMemory;
import dev.verbena.transport.TransferVector;
import dev.verbena.transport.Transport;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.TransportException;
import dev.verbena.transport.TransportHandler;
import dev.verbena.transport.Transports;
import dev.verbena.ugni.UgniCode;
import dev.verbena.ugni.bindings.ugni;
import java.io.IOException;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What is special about this provider: protection domains, and which engine moves what. */
@Timeout(60)
class GniPairTest {
    private static final int LENGTH = 65_536;

    private final String job = "pair-" + ProcessHandle.current().pid();
    private final List<Node> nodes = new ArrayList<>();

    /** A transport, what it was told, and a region of it. */
    private final class Node implements TransportHandler {
        final GniTransport transport;
        final RegisteredRegion region;
        long connection;
        int completions;
        int status;
        int refusal;
        int notices;
        String reason = "";
        Consumer<UnsafeBuffer> onMessage = message -> {};
        final UnsafeBuffer message = new UnsafeBuffer();

        Node(TransportContext context) {
            transport = (GniTransport) Transports.open("gni", context);
            region = transport.allocate(LENGTH, RemoteDescriptor.REMOTE_ALL);
            transport.listen();
            nodes.add(this);
        }

        long connect(URI uri) {
            return transport.connect(uri, null, 0, 0, 1, 20_000_000_000L);
        }

        RemoteDescriptor descriptor() {
            return region.describe(0, LENGTH, RemoteDescriptor.REMOTE_ALL, new RemoteDescriptor());
        }

        @Override
        public void onConnectRequest(
                long connection, URI peer, DirectBuffer data, int offset, int length) {
            transport.accept(connection, 2);
        }

        @Override
        public void onConnected(long connection, long context) {
            this.connection = connection;
        }

        @Override
        public void onConnectFailed(long connection, long context, int status, String reason) {
            refusal = status;
            this.reason = reason;
        }

        @Override
        public void onMessage(
                long connection,
                long context,
                DirectBuffer buffer,
                int offset,
                int length,
                long token) {
            message.wrap(buffer, offset, length);
            onMessage.accept(message);
        }

        @Override
        public void onNotify(
                long connection, long context, int tag, long region, long offset, long length) {
            notices += tag;
        }

        @Override
        public void onCompletion(
                long connection, int operation, long context, int status, long value) {
            completions++;
            this.status = status;
        }
    }

    private TransportContext context() {
        return new TransportContext().job(job);
    }

    private TransportContext domain(int ptag, int cookie) {
        return context()
                .option("gni.ptag", String.valueOf(ptag))
                .option("gni.cookie", String.valueOf(cookie));
    }

    private void until(String what, BooleanSupplier condition) {
        Await.until(
                () -> what,
                () -> {
                    nodes.forEach(node -> node.transport.poll(node, 64));
                    return condition.getAsBoolean();
                });
    }

    private void join(Node a, Node b) {
        assertThat(a.connect(b.transport.uri())).isPositive();
        until("connected", () -> a.connection != 0 && b.connection != 0);
    }

    /** As over the providers whose NICs do it all; a process may compute for long after a put. */
    @Test
    void shouldNotifyThoughTheInitiatorDoesNotPoll() {
        Node a = new Node(context());
        Node b = new Node(context());
        join(a, b);
        assertThat(a.transport.putNotify(a.connection, a.region, 0, b.descriptor(), 0, 8, 7, 1, 0))
                .isEqualTo(ACCEPTED);
        Await.until(
                () -> "notified",
                () -> {
                    b.transport.poll(b, 64);
                    return b.notices == 7;
                });
        until("completed", () -> a.completions == 1);
    }

    @Test
    void shouldTakeNoMoreInAPollThanItsLimitThoughNobodyIsTold() {
        Node a = new Node(context());
        Node b = new Node(context());
        join(a, b);
        RegisteredRegion closed = b.transport.allocate(64, RemoteDescriptor.REMOTE_WRITE);
        RemoteDescriptor d = new RemoteDescriptor();
        closed.describe(0, 64, RemoteDescriptor.REMOTE_WRITE, d);
        for (int i = 1; i <= 3; i++) {
            assertThat(a.transport.putNotify(a.connection, a.region, 0, d, 0, 8, 1, 1, 0))
                    .isEqualTo(ACCEPTED);
            int done = i;
            Await.until(() -> "put", () -> a.transport.poll(a, 64) >= 0 && a.completions == done);
        }
        closed.close();
        for (int i = 1; i <= 3; i++) {
            assertThat(b.transport.connections.find(b.connection).takenCount).isEqualTo(i - 1);
            b.transport.poll(b, 1);
        }
        assertThat(b.notices).isZero();
    }

    @Test
    void shouldTakeNothingBehindANotificationThatMakesNoSense() {
        List<Throwable> errors = new ArrayList<>();
        Node a = new Node(context());
        Node b = new Node(context().errorHandler(errors::add));
        join(a, b);
        b.onMessage = message -> b.notices++;
        GniResources resources = a.transport.resources;
        UnsafeBuffer notice = new UnsafeBuffer(resources.scratch, Notice.SCRATCH_AT, Notice.LENGTH);
        RemoteDescriptor d = b.descriptor();
        Notice.write(notice, d.keyLow(), d.keyHigh(), d.base() - 8, 8, 1);
        long endpoint = a.transport.connections.find(a.connection).endpoint;
        assertThat(
                        ugni.vgn_smsg_send(
                                endpoint,
                                notice.addressOffset(),
                                Notice.LENGTH,
                                0,
                                0,
                                0,
                                Mailboxes.NOTIFICATION))
                .isZero();
        assertThat(ugni.vgn_cq_get(resources.sourceQueue, resources.at(0))).isZero();
        assertThat(a.transport.send(a.connection, a.region, 0, 8, 1, 0)).isEqualTo(ACCEPTED);
        until("ended", () -> b.transport.connections.find(b.connection) == null);
        assertThat(errors).hasSize(1);
        assertThat(b.notices).isZero();
    }

    @Test
    void shouldShowAMessageThoughItsHandlerEndsTheConnectionAndBeginsOthers() {
        Node a = new Node(context());
        Node b = new Node(context().connectionsMax(1));
        join(a, b);
        List<Long> seen = new ArrayList<>();
        b.onMessage =
                message -> {
                    assertThat(b.transport.disconnect(b.connection)).isEqualTo(ACCEPTED);
                    b.connect(a.transport.uri());
                    seen.add(message.getLong(0));
                };
        a.region.buffer(0, 8).putLong(0, 4711);
        assertThat(a.transport.send(a.connection, a.region, 0, 8, 1, 0)).isEqualTo(ACCEPTED);
        until("seen", () -> !seen.isEmpty());
        assertThat(seen).containsExactly(4711L);
        until("ended", () -> b.transport.connections.find(b.connection) == null);
    }

    @AfterEach
    void close() {
        nodes.forEach(
                node -> {
                    node.region.close();
                    node.transport.close();
                });
    }

    @Test
    void shouldNotTellOfAFailureBefore() {
        GniResources resources = new Node(context()).transport.resources;
        assertThatThrownBy(() -> resources.allocate(1L << 47))
                .isInstanceOf(GniFailure.class)
                .hasMessageContaining(": GNI_ExtMemAlloc: ");
        assertThat(UgniCode.failure("GNI_EpBind", -2))
                .isEqualTo("GNI_EpBind: GNI_RC_INVALID_PARAM");
    }

    // ---- protection ----

    private void expectRefusal(Node from, URI to, String reason) {
        expectFailure(Status.REFUSED, from, to, reason);
    }

    private void expectFailure(int status, Node from, URI to, String reason) {
        from.reason = "";
        from.connect(to);
        until("refused", () -> !from.reason.isEmpty());
        assertThat(from.refusal).isEqualTo(status);
        assertThat(from.reason).contains(reason);
        assertThat(from.connection).isZero();
    }

    @Test
    void shouldRefuseAnotherTagOrCookieByName() {
        Node here = new Node(domain(50, 1000));
        Node otherTag = new Node(domain(51, 1000));
        Node otherCookie = new Node(domain(50, 1001));
        expectRefusal(here, otherTag.transport.uri(), "protection tag 51, this process is of 50");
        expectRefusal(here, otherCookie.transport.uri(), "cookie 1001, this process has 1000");
        expectRefusal(otherCookie, here.transport.uri(), "cookie 1000");
    }

    @Test
    void shouldNotReachAnotherDomainWithAForgedAddress() {
        Node here = new Node(domain(50, 1000));
        Node there = new Node(domain(51, 1000));
        int port = there.transport.uri().getPort();
        URI forged = URI.create("gni://localhost:" + port + "/?ptag=50&cookie=1000");
        URI bare = URI.create("gni://localhost:" + port + "/");
        expectFailure(Status.NOT_LISTENING, here, forged, "nobody is at port " + port);
        expectFailure(Status.NOT_LISTENING, here, bare, "nobody is at port");
        assertThat(there.connection).isZero();
    }

    @Test
    void shouldReachNoMemoryOfAnotherDomainThroughItsDescriptor() {
        Node a = new Node(domain(50, 1000));
        Node b = new Node(domain(50, 1000));
        Node stranger = new Node(domain(50, 1001));
        join(a, b);
        RemoteDescriptor d = stranger.descriptor();
        a.region.buffer(0, LENGTH).setMemory(0, LENGTH, (byte) 7);
        for (int i = 0; i < 4; i++) {
            int before = a.completions;
            int answer =
                    switch (i) {
                        case 0 -> a.transport.put(a.connection, a.region, 0, d, 0, LENGTH, 1, 0);
                        case 1 -> a.transport.get(a.connection, a.region, 0, d, 0, 64, 1, 0);
                        case 2 ->
                                a.transport.putNotify(a.connection, a.region, 0, d, 0, 8, 1, 1, 0);
                        default -> a.transport.fetchAdd(a.connection, d, 0, 1, 1, 0);
                    };
            assertThat(answer).isEqualTo(ACCEPTED);
            until("completed", () -> a.completions > before);
            assertThat(a.status).isEqualTo(Status.STALE_KEY);
        }
        assertThat(stranger.region.buffer(0, 8).getLong(0)).isZero();
        assertThat(b.region.buffer(0, 8).getLong(0)).isZero();
    }

    @Test
    void shouldRefuseAHostThatIsNotThisOne() {
        Node a = new Node(context());
        expectRefusal(a, URI.create("gni://elsewhere.example:7/"), "another host");
    }

    @Test
    void shouldRefuseAPeerOfAnotherName() {
        Node a = new Node(context());
        Node b = new Node(context().name("label"));
        int port = b.transport.uri().getPort();
        expectRefusal(a, URI.create("gni://localhost:" + port + "/nobody"), "'label'");
        assertThat(a.connect(URI.create("gni://localhost:" + port + "/label"))).isPositive();
        until("connected", () -> a.connection != 0);
    }

    // ---- memory that may only be read ----

    /** What is asked of the kernel at registration costs little since Linux 6.11. */
    private static TestMemory readOnly() throws IOException {
        String[] kernel = System.getProperty("os.version").split("[^0-9]");
        int version = 100 * Integer.parseInt(kernel[0]) + Integer.parseInt(kernel[1]);
        assumeTrue(version >= 611, "this kernel is not asked how memory is mapped");
        return TestMemory.readOnly(new byte[LENGTH]);
    }

    @Test
    void shouldRefuseToGetIntoMemoryThatMayOnlyBeRead() throws IOException {
        Node a = new Node(context());
        Node b = new Node(context());
        join(a, b);
        RemoteDescriptor d = b.descriptor();
        try (TestMemory memory = readOnly();
                RegisteredRegion local =
                        a.transport.register(memory, RemoteDescriptor.REMOTE_READ)) {
            TransferVector vector =
                    new TransferVector(2).add(a.region, 0, 0, 8).add(local, 0, 8, 8);
            assertThatThrownBy(() -> a.transport.get(a.connection, local, 0, d, 0, 8, 1, 0))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("may only be read");
            assertThatThrownBy(() -> a.transport.get(a.connection, vector, d, 1, 0))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("may only be read");
            assertThat(a.transport.put(a.connection, vector, d, 1, 0)).isEqualTo(ACCEPTED);
            until("put", () -> a.completions == 1);
            assertThat(a.status).isEqualTo(Status.OK);
        }
    }

    @Test
    void shouldRefuseToLetPeersWriteMemoryThatMayOnlyBeRead() throws IOException {
        Node a = new Node(context());
        try (TestMemory memory = readOnly()) {
            for (int rights : new int[] {2, 3, 4, 7}) {
                assertThatThrownBy(() -> a.transport.register(memory, rights))
                        .isInstanceOf(TransportException.class)
                        .hasMessageContaining("PERMISSION_ERROR");
            }
        }
    }

    // ---- engines ----

    private void move(Node a, Node b, long offset, int length) {
        RemoteDescriptor d = b.descriptor();
        int before = a.completions;
        assertThat(a.transport.put(a.connection, a.region, 0, d, 0, length, 1, 0))
                .isEqualTo(ACCEPTED);
        assertThat(a.transport.get(a.connection, a.region, 0, d, offset, length, 1, 0))
                .isEqualTo(ACCEPTED);
        until("moved", () -> a.completions == before + 2);
        assertThat(a.status).isEqualTo(Status.OK);
    }

    @Test
    void shouldMoveUpTo4096BytesByFmaAndMoreByBte() {
        Node a = new Node(context());
        Node b = new Node(context());
        join(a, b);
        move(a, b, 0, 4096);
        assertThat(a.transport.statistics()).isEqualTo(new GniStatistics(2, 0, 0));
        move(a, b, 0, 4100);
        assertThat(a.transport.statistics()).isEqualTo(new GniStatistics(2, 2, 0));
        move(a, b, 1, 100);
        assertThat(a.transport.statistics()).isEqualTo(new GniStatistics(4, 2, 1));
    }

    @Test
    void shouldMoveEverythingByBteWhereToldSo() {
        Node a = new Node(context().option("gni.fmaMax", "0"));
        Node b = new Node(context());
        join(a, b);
        move(a, b, 0, 8);
        assertThat(a.transport.statistics()).isEqualTo(new GniStatistics(0, 2, 0));
        move(a, b, 0, 0);
        assertThat(a.status).isEqualTo(Status.OK);
    }

    @Test
    void shouldConnectToItself() {
        Node a = new Node(context());
        a.connect(a.transport.uri());
        until("connected", () -> a.connection != 0);
        move(a, a, 0, 512);
        int before = a.completions;
        assertThat(a.transport.send(a.connection, a.region, 0, 8, 1, Transport.FENCE))
                .isEqualTo(ACCEPTED);
        until("sent", () -> a.completions > before);
    }
}
