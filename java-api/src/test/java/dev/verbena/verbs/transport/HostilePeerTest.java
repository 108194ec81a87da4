package dev.verbena.verbs.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.agent.Await;
import dev.verbena.memory.RegisteredRegion;
import dev.verbena.memory.RemoteDescriptor;
import dev.verbena.transport.Status;
import dev.verbena.transport.Transport;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.TransportHandler;
import dev.verbena.transport.Transports;
import dev.verbena.verbs.CompletionFlyweight;
import dev.verbena.verbs.CompletionStatus;
import dev.verbena.verbs.Gid;
import dev.verbena.verbs.QueuePair;
import dev.verbena.verbs.QueuePairAddress;
import dev.verbena.verbs.VerbsStub;
import java.io.DataInputStream;
import java.io.IOException;
import java.net.Socket;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.BooleanSupplier;
import java.util.function.ToIntFunction;
import org.agrona.DirectBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Peers that keep to the frames and break the rules behind them: each loses its connection, and
 * another one goes on. Over the recording libibverbs, which says what the NIC would have received.
 */
@Timeout(120)
class HostilePeerTest {
    private static final int CREDITS = 2;
    private static final long INCARNATION = 77;
    private static final int RECEIVE = CompletionFlyweight.RECEIVE;
    private static final String ADDRESS = "127.0.0.1";
    private static final Gid GID = Gid.parse("00000000000000000000ffff0a630002");

    private final VerbsStub stub = VerbsStub.open();
    private final List<String> errors = new CopyOnWriteArrayList<>();
    private final TransportContext context =
            new TransportContext()
                    .job("hostile")
                    .name("here")
                    .creditsPerConnection(CREDITS)
                    .receiveSlotCount(64)
                    .messageLengthMax(64)
                    .outstandingMax(64)
                    .connectionsMax(8)
                    .peerTimeoutNs(60_000_000_000L)
                    .errorHandler(e -> errors.add(e.getMessage()))
                    .option("device", "stub0")
                    .option("address", ADDRESS);
    private final Seen seen = new Seen();
    private Transport transport;
    private long receivesTaken;

    /** What the handler was told. */
    private static final class Seen implements TransportHandler {
        final List<Long> requests = new ArrayList<>();
        final Set<Long> connected = new TreeSet<>();
        final List<Long> messages = new ArrayList<>();
        final Map<Long, String> lost = new HashMap<>();
        final List<Long> completions = new ArrayList<>();

        @Override
        public void onCompletion(
                long connection, int operation, long context, int status, long value) {
            completions.add(context);
        }

        @Override
        public void onConnectRequest(
                long connection, URI peer, DirectBuffer privateData, int offset, int length) {
            requests.add(connection);
        }

        @Override
        public void onConnected(long connection, long context) {
            connected.add(connection);
        }

        @Override
        public void onMessage(
                long connection,
                long context,
                DirectBuffer buffer,
                int offset,
                int length,
                long token) {
            messages.add(connection);
        }

        @Override
        public void onNotify(
                long connection, long context, int tag, long regionId, long offset, long length) {
            throw new AssertionError("a notification of nothing");
        }

        @Override
        public void onPeerLost(long connection, long context, String reason) {
            lost.put(connection, reason);
        }
    }

    /** The other end: its words are real, and what its NIC would send is told by the stub. */
    private final class Peer implements AutoCloseable {
        final Socket socket;
        final DataInputStream in;
        final long handle;
        final int queuePair;

        Peer(int number) throws IOException {
            socket = new Socket(ADDRESS, transport.uri().getPort());
            socket.setSoTimeout(30_000);
            in = new DataInputStream(socket.getInputStream());
            URI from = URI.create("verbs://" + ADDRESS + ":1/hostile/peer" + number);
            say(
                    Frames.hello(
                            new Frames.Hello(
                                    0, "hostile", "here", from, endpoint(number), new byte[0])));
            pollUntil("a request", () -> !seen.requests.isEmpty());
            handle = seen.requests.remove(0);
            assertThat(transport.accept(handle, number)).isEqualTo(Transport.ACCEPTED);
            queuePair = Endpoint.decode(hear(Frames.ACCEPT)).in().number();
            say(Frames.plain(Frames.READY));
            pollUntil("a connection", () -> seen.connected.contains(handle));
        }

        void say(ByteBuffer frame) throws IOException {
            socket.getOutputStream().write(frame.array(), 0, frame.limit());
        }

        private ByteBuffer hear(byte kind) throws IOException {
            while (true) {
                byte[] frame = new byte[Integer.reverseBytes(in.readInt())];
                in.readFully(frame);
                if (frame[0] == kind) {
                    return ByteBuffer.wrap(frame, 1, frame.length - 1)
                            .slice()
                            .order(ByteOrder.LITTLE_ENDIAN);
                }
                assertThat(frame[0]).isEqualTo(Frames.HEARTBEAT);
            }
        }

        /** Its NIC fills slots. */
        void fill(int count, int opcode, boolean hasImmediate, int immediate, int length) {
            long[] ids = new long[count];
            for (int i = 0; i < count; i++) {
                ids[i] = stub.receiveId(receivesTaken++);
            }
            stub.completeReceives(opcode, queuePair, hasImmediate, immediate, length, ids);
        }

        @Override
        public void close() throws IOException {
            socket.close();
        }
    }

    private static Endpoint endpoint(int number) {
        return new Endpoint(
                new QueuePairAddress(number, 1, 0, GID),
                new QueuePairAddress(number + 1, 1, 0, GID),
                1024,
                4,
                CREDITS,
                64,
                60_000_000_000L,
                INCARNATION);
    }

    @BeforeEach
    void open() {
        receivesTaken = stub.receiveCount();
        transport = Transports.open("verbs", context);
        transport.listen();
    }

    @AfterEach
    void close() {
        transport.close();
        stub.close();
    }

    private void pollUntil(String what, BooleanSupplier condition) {
        Await.until(
                () -> what + "; errors " + errors + ", lost " + seen.lost,
                () -> {
                    transport.poll(seen, 16);
                    return condition.getAsBoolean();
                });
    }

    /** What a hostile peer does. */
    private interface Attack {
        void by(Peer peer) throws IOException;
    }

    private void assertEnds(String reason, Attack attack) throws IOException {
        try (Peer honest = new Peer(0x200);
                Peer hostile = new Peer(0x300)) {
            errors.clear();
            seen.lost.clear();
            attack.by(hostile);
            pollUntil("its end", () -> seen.lost.containsKey(hostile.handle));
            assertThat(seen.lost.get(hostile.handle)).contains(reason);
            assertThat(errors).hasSize(1);
            assertThat(errors.get(0)).contains(reason);
            seen.messages.clear();
            honest.fill(1, RECEIVE, false, 0, 5);
            pollUntil("a message", () -> !seen.messages.isEmpty());
            assertThat(seen.messages).containsExactly(honest.handle);
            assertThat(seen.lost).containsOnlyKeys(hostile.handle);
            transport.disconnect(honest.handle);
            honest.say(Frames.plain(Frames.CLOSED));
        }
    }

    @Test
    void shouldEndWhoGivesCreditsThatWereNeverTaken() throws Exception {
        for (int credits : new int[] {1, 0, -1, Integer.MIN_VALUE}) {
            assertEnds(
                    "its credits make no sense", peer -> peer.fill(1, RECEIVE, true, credits, 0));
        }
    }

    @Test
    void shouldEndWhoSendsOneMessageTooMany() throws Exception {
        assertEnds(
                "more messages than it has credits",
                peer -> peer.fill(CREDITS + 1, RECEIVE, false, 0, 8));
    }

    @Test
    void shouldEndWhoTakesASlotWithAWrite() throws Exception {
        int write = CompletionFlyweight.RECEIVE_WRITE_IMMEDIATE;
        for (int length : new int[] {0, Work.RECORD}) {
            assertEnds(
                    "something that is no message", peer -> peer.fill(1, write, true, 1, length));
        }
    }

    @Test
    void shouldEndWhoseNotificationHasAnotherLength() throws Exception {
        for (int length : new int[] {Work.RECORD - 1, Work.RECORD + 1, 64}) {
            assertEnds(
                    "a notification of " + length, peer -> peer.fill(1, RECEIVE, true, 1, length));
        }
    }

    @Test
    void shouldEndWhoseFramesMakeNoSense() throws Exception {
        List<ByteBuffer> frames =
                List.of(
                        Frames.repair(new Frames.Repair(1 << 24, 0, 0, 0, 0, 0, 0, false)),
                        Frames.repaired(new Frames.Repaired(1, 1, 9, 1)),
                        Frames.plain(Frames.REPAIR),
                        Frames.accept(endpoint(0x300)),
                        Frames.refuse("no"));
        for (ByteBuffer frame : frames) {
            assertEnds("frame ", peer -> peer.say(frame));
        }
    }

    /** Only what was refused is repaired: else a broken network would be, again and again. */
    @Test
    void shouldEndWhoGetsNoAnswerFromAPairThatRefusedNothing() throws Exception {
        try (Peer peer = new Peer(0x300)) {
            peer.say(Frames.repair(new Frames.Repair(1, 0, 0, 0, 0, 0, 0, true)));
            pollUntil("its end", () -> seen.lost.containsKey(peer.handle));
            assertThat(seen.lost.get(peer.handle)).contains("refused nothing");
        }
    }

    /** Not the peer's fault: it is lost, and the others go on. */
    @Test
    void shouldEndWhoCannotBeGivenAnotherPair() throws Exception {
        RegisteredRegion region = transport.allocate(64, RemoteDescriptor.REMOTE_ALL);
        List<Attack> repairs =
                List.of(
                        peer ->
                                peer.say(
                                        Frames.repair(
                                                new Frames.Repair(1, 0, 0, 0, 0, 0, 1, false))),
                        peer -> {
                            transport.get(peer.handle, region, 0, far(), 0, 8, 0, 0);
                            stub.completeSends(CompletionStatus.REMOTE_ACCESS, stub.postedId(0));
                        });
        List<Peer> peers = List.of(new Peer(0x300), new Peer(0x400));
        VerbsStub.leaveNoLogs(connection(peers.get(0)).in);
        for (Attack repair : repairs) {
            try (Peer peer = peers.get(repairs.indexOf(repair))) {
                repair.by(peer);
                pollUntil("its end", () -> seen.lost.containsKey(peer.handle));
                assertThat(seen.lost.get(peer.handle)).contains("cannot be joined anew");
            }
        }
        region.close();
    }

    private VerbsConnection connection(Peer peer) {
        return ((VerbsTransport) transport).connections.table().find(peer.handle);
    }

    /** The pair failed over something behind the get, and what lies between was carried out. */
    @Test
    void shouldAnswerOnlyForAGetThatIsRefused() throws Exception {
        VerbsRegion region = (VerbsRegion) transport.allocate(4096, RemoteDescriptor.REMOTE_READ);
        try (Peer peer = new Peer(0x300)) {
            VerbsConnection connection = connection(peer);
            for (int length : new int[] {4097, 8}) {
                connection.in.toError();
                QueuePair before = connection.in;
                peer.say(
                        Frames.repair(
                                new Frames.Repair(
                                        1, 0, region.key(), region.base(), length, 1, 1, true)));
                pollUntil("an answer", () -> connection.in != before);
                boolean isRefused = length > 4096;
                assertThat(seen.lost.containsKey(peer.handle)).isEqualTo(!isRefused);
                if (isRefused) {
                    ByteBuffer repaired = peer.hear(Frames.REPAIRED);
                    assertThat(Frames.repaired(repaired).status()).isEqualTo(Status.BOUNDS);
                }
            }
            assertThat(seen.lost.get(peer.handle)).contains("refused nothing");
        }
        region.close();
    }

    /** What the peer may have carried out is not asked for again, if it would notice. */
    @Test
    void shouldRepeatBehindAGetWithoutAnAnswerOnlyWhatMayBeDoneTwice() throws Exception {
        RegisteredRegion region = transport.allocate(64, RemoteDescriptor.REMOTE_ALL);
        RemoteDescriptor far = far();
        List<ToIntFunction<Peer>> harmless =
                List.of(
                        peer -> transport.get(peer.handle, region, 8, far, 8, 8, 0, 0),
                        peer -> transport.put(peer.handle, region, 8, far, 8, 8, 0, 0));
        List<ToIntFunction<Peer>> others =
                List.of(
                        peer -> transport.send(peer.handle, region, 8, 8, 0, 0),
                        peer -> transport.putNotify(peer.handle, region, 8, far, 8, 8, 7, 0, 0),
                        peer -> transport.fetchAdd(peer.handle, far, 8, 1, 0, 0),
                        this::returnCredit);
        for (ToIntFunction<Peer> behind : harmless) {
            assertThat(isRepairedWith(behind, region, far)).isTrue();
        }
        for (ToIntFunction<Peer> behind : others) {
            assertThat(isRepairedWith(behind, region, far)).isFalse();
        }
        region.close();
    }

    private static RemoteDescriptor far() {
        return new RemoteDescriptor()
                .set(
                        RemoteDescriptor.KIND_VERBS,
                        RemoteDescriptor.REMOTE_ALL,
                        0,
                        1L << 40,
                        4096,
                        5,
                        INCARNATION);
    }

    private int returnCredit(Peer peer) {
        peer.fill(1, RECEIVE, false, 0, 8);
        pollUntil("a message", () -> !seen.messages.isEmpty());
        seen.messages.clear();
        transport.poll(seen, 16);
        assertThat(connection(peer).inFlight()).as("the get and the credit").isEqualTo(2);
        return Transport.ACCEPTED;
    }

    private boolean isRepairedWith(
            ToIntFunction<Peer> behind, RegisteredRegion region, RemoteDescriptor far)
            throws IOException {
        try (Peer peer = new Peer(0x300)) {
            VerbsConnection connection = connection(peer);
            transport.get(peer.handle, region, 0, far, 0, 8, 0, 0);
            long get = stub.postedId(0);
            assertThat(behind.applyAsInt(peer)).isEqualTo(Transport.ACCEPTED);
            stub.completeSends(CompletionStatus.RETRIES_EXCEEDED, get);
            transport.poll(seen, 16);
            boolean isRepaired = connection.isStopped();
            assertThat(connection.state == VerbsConnection.DYING).isEqualTo(!isRepaired);
            peer.say(Frames.plain(Frames.CLOSED));
            pollUntil("its end", () -> connection.state == VerbsConnection.ENDED);
            pollUntil("nothing more", () -> transport.poll(seen, 16) == 0);
            return isRepaired;
        }
    }

    /** Not a hostile one: what is fenced waits for what is before it, also if it moves nothing. */
    @Test
    void shouldEndWhatIsFencedAndMovesNothingInItsTurn() throws Exception {
        RegisteredRegion region = transport.allocate(64, RemoteDescriptor.REMOTE_ALL);
        RemoteDescriptor far = far();
        int fence = Transport.FENCE;
        try (Peer peer = new Peer(0x300)) {
            transport.put(peer.handle, region, 0, far, 0, 0, 1, fence);
            transport.put(peer.handle, region, 0, far, 0, 8, 2, 0);
            long first = stub.postedId(0);
            transport.put(peer.handle, region, 0, far, 0, 0, 3, fence);
            transport.get(peer.handle, region, 0, far, 0, 0, 4, fence);
            transport.get(peer.handle, region, 0, far, 0, 0, 5, 0);
            transport.send(peer.handle, region, 0, 8, 6, 0);
            long last = stub.postedId(0);
            transport.put(peer.handle, region, 0, far, 0, 0, 7, fence);
            transport.poll(seen, 16);
            assertThat(seen.completions).containsExactly(1L, 5L);
            stub.completeSends(CompletionStatus.SUCCESS, first);
            transport.poll(seen, 16);
            assertThat(seen.completions).containsExactly(1L, 5L, 2L, 3L, 4L);
            stub.completeSends(CompletionStatus.SUCCESS, last);
            transport.poll(seen, 16);
            assertThat(seen.completions).containsExactly(1L, 5L, 2L, 3L, 4L, 6L, 7L);
            peer.say(Frames.plain(Frames.CLOSED));
        }
        region.close();
    }

    /** Not its fault, either: one that served it, or us, cannot be closed. */
    @Test
    void shouldGoOnWhenAPairCannotBeClosed() {
        int before = stub.openObjects();
        VerbsOptions options = VerbsOptions.of(context);
        try (VerbsResources resources = VerbsResources.open(context, options, 2, 4)) {
            QueuePairs pairs = new QueuePairs(resources, context, 1);
            URI from = URI.create("verbs://" + ADDRESS + ":1/hostile/peer");
            VerbsConnection connection = new VerbsConnection(1, from, null, null);
            pairs.make(connection);
            pairs.join(connection, endpoint(0x300));
            pairs.repair(connection, new Frames.Repair(0x400, 1, 0, 0, 0, 0, 1, false), 1);
            stub.fail("ibv_destroy_qp", 5);
            pairs.polled(0);
            assertThat(errors).hasSize(1);
            assertThat(errors.get(0)).contains("ibv_destroy_qp");
            assertThat(connection.retiredCount).isZero();
            stub.fail("ibv_destroy_qp", 5);
            pairs.close(connection);
            assertThat(errors).hasSize(2);
            pairs.closeAll();
            resources.shared.close();
        }
        assertThat(stub.openObjects()).isEqualTo(before);
    }

    @Test
    void shouldRefuseRepairsWithoutEnd() {
        VerbsOptions options = VerbsOptions.of(context);
        try (VerbsResources resources = VerbsResources.open(context, options, 2, 4)) {
            QueuePairs pairs = new QueuePairs(resources, context, 1);
            URI from = URI.create("verbs://" + ADDRESS + ":1/hostile/peer");
            VerbsConnection connection = new VerbsConnection(1, from, null, null);
            pairs.make(connection);
            pairs.join(connection, endpoint(0x300));
            Frames.Repair repair = new Frames.Repair(0x400, 1, 0, 0, 0, 0, 1, false);
            for (int i = 0; i < 64; i++) {
                pairs.repair(connection, repair, 1);
            }
            assertThatThrownBy(() -> pairs.repair(connection, repair, 1))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("repairs without end");
            pairs.polled(0); // nothing waits in the old pairs any more
            pairs.repair(connection, repair, 1);
            pairs.close(connection);
            pairs.closeAll();
        }
    }
}
