package dev.verbena.ofi.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.verbena.agent.Await;
import dev.verbena.memory.OffHeapMemories;
import dev.verbena.memory.OffHeapMemory;
import dev.verbena.memory.RegisteredRegion;
import dev.verbena.memory.RemoteDescriptor;
import dev.verbena.transport.Capability;
import dev.verbena.transport.Status;
import dev.verbena.transport.Transport;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.TransportHandler;
import dev.verbena.transport.Transports;
import java.net.URI;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.BooleanSupplier;
import org.agrona.DirectBuffer;
import org.agrona.collections.IntHashSet;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What is under way when a connection or a region ends. Only polls make progress here. */
@Timeout(60)
@ExtendWith(NeedsLibfabric.class)
class OfiEndsTest {
    /** One piece, which the peer's sockets do not hold: it arrives while the peer polls. */
    private static final int LONG = 16 << 20;

    /** As libfabric says it. */
    private static final int CONNECTION_RESET = 104;

    private static final int SLOTS = 64;
    private static final int CREDITS = 16;

    private final List<Throwable> errors = new CopyOnWriteArrayList<>();
    private final Node a = new Node();
    private Node b = new Node();
    private final OffHeapMemory memory = OffHeapMemories.allocate(LONG);
    private RegisteredRegion local;
    private RegisteredRegion target;

    private final class Node implements TransportHandler {
        final Transport transport;
        long connection;
        int completions;
        int lastStatus;
        boolean isDisconnected;
        final Deque<Long> retained = new ArrayDeque<>();

        Node() {
            this(new TransportContext());
        }

        Node(TransportContext context) {
            transport =
                    Transports.open(
                            "ofi",
                            context.job("ends-" + ProcessHandle.current().pid())
                                    .receiveSlotCount(SLOTS)
                                    .outstandingMax(64)
                                    .connectionsMax(8)
                                    .option("ofi.progress", "caller")
                                    .errorHandler(errors::add));
        }

        @Override
        public void onConnectRequest(
                long connection, URI uri, DirectBuffer data, int offset, int length) {
            transport.accept(connection, 1);
        }

        @Override
        public void onConnected(long connection, long context) {
            this.connection = connection;
        }

        @Override
        public void onCompletion(
                long connection, int operation, long context, int status, long value) {
            completions++;
            lastStatus = status;
        }

        @Override
        public void onMessage(
                long connection,
                long context,
                DirectBuffer buffer,
                int offset,
                int length,
                long token) {
            transport.retain(token);
            retained.add(token);
        }

        @Override
        public void onDisconnected(long connection, long context) {
            isDisconnected = true;
        }

        void poll() {
            transport.poll(this, 8);
        }
    }

    @AfterEach
    void close() {
        if (local != null) {
            local.close();
            target.close();
        }
        a.transport.close();
        b.transport.close();
        memory.close();
        assertThat(errors).isEmpty();
    }

    private void pollUntil(String what, BooleanSupplier condition) {
        Await.until(
                () -> what + "; " + errors,
                () -> {
                    a.poll();
                    b.poll();
                    return condition.getAsBoolean();
                });
    }

    private void connect() {
        b.transport.listen();
        a.transport.connect(b.transport.uri(), null, 0, 0, 1, 30_000_000_000L);
        pollUntil("connected", () -> a.connection != 0 && b.connection != 0);
    }

    /** A put from a to b of which a part has arrived. */
    private void beginPut() {
        local.buffer(0, LONG).setMemory(0, LONG, (byte) 1);
        RemoteDescriptor d = new RemoteDescriptor();
        target.describe(0, LONG, RemoteDescriptor.REMOTE_WRITE, d);
        assertThat(a.transport.put(a.connection, local, 0, d, 0, LONG, 1, 0)).isZero();
        pollUntil("its begin", () -> target.buffer(0, 1).getByte(0) == 1);
        assertThat(target.buffer(0, LONG).getByte(LONG - 1)).as("its last byte").isZero();
    }

    /** The peer takes its region back, and the answer is due when the connection is no more. */
    @Test
    void shouldGoOnWhenARevokedPutEndsAfterItsConnection() {
        connect();
        local = a.transport.allocate(LONG, 0);
        target = b.transport.allocate(LONG, RemoteDescriptor.REMOTE_WRITE);
        beginPut();
        target.close();
        endBoth();
        connectAgain();
    }

    /** Both disconnect, and the put has ended for its user. */
    private void endBoth() {
        a.transport.disconnect(a.connection);
        b.transport.disconnect(b.connection);
        Await.until(
                "the put's end",
                () -> {
                    a.poll();
                    return a.completions == 1;
                });
        assertThat(a.lastStatus).isIn(Status.STALE_KEY, Status.PEER_DEAD);
    }

    @Test
    void shouldHoldMemoryHandedInThatAPeerStillWrites() {
        connect();
        local = a.transport.allocate(LONG, 0);
        target = b.transport.register(memory, RemoteDescriptor.REMOTE_WRITE);
        beginPut();
        b.transport.disconnect(b.connection);
        target.close();
        assertThatThrownBy(memory::close)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("ofi region");
        pollUntil("the put", () -> a.completions == 1);
        assertThat(a.lastStatus).isEqualTo(Status.OK);
        pollUntil("the peer's word", this::isMemoryClosed);
    }

    /** The peer computes for longer than this side waits; then it answers. */
    @Test
    void shouldGiveMemoryBackWhenAPeerAnswersAfterLong() {
        b.transport.close();
        b = new Node(new TransportContext().peerTimeoutNs(200_000_000L));
        connect();
        local = a.transport.allocate(LONG, 0);
        target = b.transport.register(memory, RemoteDescriptor.REMOTE_WRITE);
        beginPut();
        b.transport.disconnect(b.connection);
        target.close();
        long endNs = System.nanoTime() + 1_000_000_000L;
        while (System.nanoTime() - endNs < 0) {
            b.poll();
            assertThat(isMemoryClosed()).isFalse();
        }
        pollUntil("the peer's word", this::isMemoryClosed);
    }

    /** What the provider over there holds of the put goes on, though the put has ended. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldHoldMemoryForAWhileWhenAPeerGivesItsPutUp(boolean isDisconnected) {
        b.transport.close();
        b = new Node(new TransportContext().peerTimeoutNs(200_000_000L));
        connect();
        local = a.transport.allocate(LONG, 0);
        target = b.transport.register(memory, RemoteDescriptor.REMOTE_WRITE);
        beginPut();
        Connections connections = ((OfiTransport) a.transport).connections;
        connections.onBroken(connections.find(a.connection), CONNECTION_RESET);
        if (isDisconnected) {
            b.transport.disconnect(b.connection);
        }
        target.close();
        pollUntil("the put's end", () -> a.completions == 1);
        assertThat(a.lastStatus).isEqualTo(Status.PEER_DEAD);
        long endNs = System.nanoTime() + 400_000_000L;
        while (System.nanoTime() - endNs < 0) {
            a.poll();
            b.poll();
            assertThat(isMemoryClosed()).isFalse();
        }
        pollUntil("the time for what is on its way", this::isMemoryClosed);
    }

    /** That a close waits for nobody is not for its user to see, but for its duration. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldWaitOnceAtMostForAPeerThatDoesNotAnswer(boolean isDisconnected) {
        connect();
        local = a.transport.allocate(8, 0);
        target = b.transport.allocate(8, 0);
        List<RegisteredRegion> known = new ArrayList<>();
        for (int i = 1; i <= 20; i++) {
            known.add(regionThatAKnows());
        }
        if (isDisconnected) {
            b.transport.disconnect(b.connection);
        }
        int[] waits = new int[1];
        watchCloses((OfiTransport) b.transport, true, () -> waits[0]++);
        known.forEach(RegisteredRegion::close);
        assertThat(waits[0]).isEqualTo(1);
        assertThatThrownBy(memory::close).hasMessageContaining("ofi region");
        pollUntil("the peer's word", this::isMemoryClosed);
    }

    /** The peer does not know of the close yet: what says so is still on its way. */
    @Test
    void shouldRefuseAnAtomicOnMemoryThatIsGone() {
        connect();
        assumeTrue((a.transport.capabilities() & Capability.ATOMICS) != 0);
        local = a.transport.allocate(8, 0);
        target = b.transport.allocate(8, 0);
        RegisteredRegion region = b.transport.register(memory, RemoteDescriptor.REMOTE_ALL);
        RemoteDescriptor d = new RemoteDescriptor();
        region.describe(0, 8, RemoteDescriptor.REMOTE_ALL, d);
        a.transport.fetchAdd(a.connection, d, 0, 1, 1, 0);
        pollUntil("an atomic", () -> a.completions == 1);
        assertThat(a.lastStatus).isEqualTo(Status.OK);
        watchCloses((OfiTransport) b.transport, false, () -> {});
        region.close();
        a.transport.fetchAdd(a.connection, d, 0, 1, 2, 0);
        pollUntil("its end", () -> a.completions == 2);
        assertThat(a.lastStatus).isEqualTo(Status.ACCESS);
        assertThat(a.transport.send(a.connection, local, 0, 8, 3, 0)).isZero();
        pollUntil("a message", () -> b.retained.size() == 1);
    }

    private RegisteredRegion regionThatAKnows() {
        int count = a.completions + 1;
        RemoteDescriptor d = new RemoteDescriptor();
        RegisteredRegion region = b.transport.register(memory, RemoteDescriptor.REMOTE_WRITE);
        region.describe(0, 8, RemoteDescriptor.REMOTE_WRITE, d);
        assertThat(a.transport.put(a.connection, local, 0, d, 0, 8, count, 0)).isZero();
        pollUntil("a put", () -> a.completions == count);
        return region;
    }

    /** What it said before this close has arrived, and nobody has looked at that. */
    @Test
    void shouldWaitAgainForAPeerThatHasAnswered() {
        connect();
        local = a.transport.allocate(8, 0);
        target = b.transport.allocate(8, 0);
        RegisteredRegion first = regionThatAKnows();
        RegisteredRegion second = regionThatAKnows();
        int[] waits = new int[1];
        watchCloses((OfiTransport) b.transport, true, () -> waits[0]++);
        first.close();
        pollA();
        second.close();
        assertThat(waits[0]).isEqualTo(2);
        pollUntil("the peer's word", this::isMemoryClosed);
    }

    @Test
    void shouldGiveMemoryBackWhenAPeerAnswersTheDisconnectDuringTheClose() {
        connect();
        local = a.transport.allocate(8, 0);
        target = b.transport.allocate(8, 0);
        RegisteredRegion region = regionThatAKnows();
        b.transport.disconnect(b.connection);
        watchCloses((OfiTransport) b.transport, true, this::pollA);
        region.close();
        memory.close();
        assertThat(a.isDisconnected).isTrue();
    }

    private void pollA() {
        long endNs = System.nanoTime() + 200_000_000L;
        while (System.nanoTime() - endNs < 0) {
            a.poll();
        }
    }

    /** One that learns of the close may answer before the next does. */
    @Test
    void shouldTellAllUsersOfARegionThatCloses() {
        Regions regions = ((OfiTransport) b.transport).parts.regions;
        OfiRegion region = (OfiRegion) b.transport.allocate(8, RemoteDescriptor.REMOTE_WRITE);
        IntHashSet users = new IntHashSet();
        for (int i = 1; i <= 1000; i++) {
            users.add(i << 14 | i);
        }
        region.users.addAll(users);
        regions.revoker(
                new Regions.Revoker() {
                    @Override
                    public void revoke(int connection, long key) {
                        users.remove(connection);
                        regions.onRevoked(connection, key);
                    }

                    @Override
                    public boolean mayAnswer(OfiRegion region) {
                        return false;
                    }

                    @Override
                    public void await(OfiRegion region) {
                        throw new AssertionError("nobody is left");
                    }
                });
        region.close();
        assertThat(users).isEmpty();
    }

    private static void watchCloses(OfiTransport transport, boolean tells, Runnable onAwait) {
        Connections connections = transport.connections;
        transport.parts.regions.revoker(
                new Regions.Revoker() {
                    @Override
                    public void revoke(int connection, long key) {
                        if (tells) {
                            connections.revoke(connection, key);
                        }
                    }

                    @Override
                    public boolean mayAnswer(OfiRegion region) {
                        return connections.mayAnswer(region);
                    }

                    @Override
                    public void await(OfiRegion region) {
                        onAwait.run();
                        connections.await(region);
                    }
                });
    }

    @Test
    void shouldGiveMemoryBackAtOnceWhenItsUserHasLeftBefore() {
        connect();
        local = a.transport.allocate(LONG, 0);
        target = b.transport.register(memory, RemoteDescriptor.REMOTE_WRITE);
        beginPut();
        b.transport.disconnect(b.connection);
        pollUntil("the put, and its end", () -> a.completions == 1 && a.isDisconnected);
        b.poll();
        target.close();
        memory.close();
    }

    @Test
    void shouldHoldMemoryHandedInThatTheProviderStillReads() {
        connect();
        local = a.transport.register(memory, 0);
        target = b.transport.allocate(LONG, RemoteDescriptor.REMOTE_WRITE);
        beginPut();
        endBoth();
        local.close();
        assertThatThrownBy(memory::close)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("ofi region");
        pollUntil("the provider's end", this::isMemoryClosed);
    }

    /**
     * Retained messages of ended connections have slots still: auto has tokens for so many only.
     */
    @Test
    void shouldHoldMessagesBackWhenAllSlotsAreRetained() {
        connect();
        local = a.transport.allocate(8, 0);
        target = b.transport.allocate(8, 0);
        for (int i = 1; i <= SLOTS / CREDITS; i++) {
            sendAll();
            int count = i * CREDITS;
            pollUntil("messages", () -> b.retained.size() == count);
            a.transport.disconnect(a.connection);
            pollUntil("its end", () -> b.isDisconnected);
            b.isDisconnected = false;
            connectAgain();
        }
        sendAll();
        long endNs = System.nanoTime() + 100_000_000L;
        while (System.nanoTime() - endNs < 0) {
            a.poll();
            b.poll();
        }
        assertThat(b.retained).hasSize(SLOTS);
        for (int i = 0; i < CREDITS; i++) {
            b.transport.release(b.retained.remove());
        }
        pollUntil("the last", () -> b.retained.size() == SLOTS);
    }

    private void connectAgain() {
        a.connection = 0;
        b.connection = 0;
        connect();
    }

    private void sendAll() {
        for (int i = 0; i < CREDITS; i++) {
            assertThat(a.transport.send(a.connection, local, 0, 8, 1, 0)).isZero();
        }
        a.completions = 0;
        pollUntil("sent", () -> a.completions == CREDITS);
    }

    private boolean isMemoryClosed() {
        try {
            memory.close();
        } catch (IllegalStateException e) {
            return false;
        }
        return true;
    }
}
