package dev.verbena.ugni.transport;

import static dev.verbena.transport.Transport.ACCEPTED;
import static java.nio.ByteOrder.LITTLE_ENDIAN;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.agent.Await;
import dev.verbena.memory.OffHeapMemories;
import dev.verbena.memory.OffHeapMemory;
import dev.verbena.memory.RegisteredRegion;
import dev.verbena.memory.RemoteDescriptor;
import dev.verbena.transport.Status;
import dev.verbena.transport.Transport;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.TransportException;
import dev.verbena.transport.TransportHandler;
import dev.verbena.transport.Transports;
import dev.verbena.transport.core.ConnectionLife;
import dev.verbena.transport.core.EventRing;
import dev.verbena.ugni.bindings.ugni;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
import org.agrona.BufferUtil;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A peer that writes what no sender of ours writes, and one that sends as soon as it may. */
@Timeout(60)
class GniNonsenseTest {
    private static final AtomicInteger SERIAL = new AtomicInteger();
    private static final int LENGTH = 4096;
    private static final int CONNECTIONS = 8;

    /** More events than a transport's queue holds. */
    private static final int FLOOD = 20_000;

    private static final int UNKNOWN_KIND = 77;

    private final String job =
            "nonsense-" + ProcessHandle.current().pid() + "-" + SERIAL.getAndIncrement();
    private final List<Throwable> errors = new ArrayList<>();
    private Node here;
    private Node there;
    private Runnable onMessage = () -> {};

    private final class Node implements TransportHandler {
        final GniTransport transport;
        final RegisteredRegion region;
        long connection;
        long token;
        int messages;
        int notifications;
        int completions;
        int status;
        String reason = "";
        String lost = "";

        Node() {
            transport =
                    (GniTransport)
                            Transports.open(
                                    "gni",
                                    new TransportContext()
                                            .job(job)
                                            .creditsPerConnection(1)
                                            .connectionsMax(CONNECTIONS)
                                            .errorHandler(errors::add));
            region = transport.allocate(LENGTH, RemoteDescriptor.REMOTE_WRITE);
            transport.listen();
        }

        GniConnection slot() {
            return transport.connections.find(connection);
        }

        RemoteDescriptor descriptor() {
            return region.describe(
                    0, LENGTH, RemoteDescriptor.REMOTE_WRITE, new RemoteDescriptor());
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
            this.status = status;
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
            messages++;
            this.token = token;
            onMessage.run();
        }

        @Override
        public void onNotify(
                long connection, long context, int tag, long regionId, long offset, long length) {
            notifications++;
        }

        @Override
        public void onCompletion(
                long connection, int operation, long context, int status, long value) {
            completions++;
            this.status = status;
        }

        @Override
        public void onPeerLost(long connection, long context, String reason) {
            this.connection = 0;
            lost = reason;
        }

        @Override
        public void onDisconnected(long connection, long context) {
            this.connection = 0;
        }

        void close() {
            region.close();
            transport.close();
        }
    }

    @BeforeEach
    void open() {
        here = new Node();
        there = new Node();
        connect();
    }

    private void connect() {
        here.transport.connect(there.transport.uri(), null, 0, 0, 1, 20_000_000_000L);
        until("connected", () -> here.connection != 0 && there.connection != 0);
    }

    @AfterEach
    void close() {
        here.close();
        there.close();
    }

    private void until(String what, BooleanSupplier condition) {
        Await.until(
                () -> what,
                () -> {
                    here.transport.poll(here, 64);
                    there.transport.poll(there, 64);
                    return condition.getAsBoolean();
                });
    }

    /** The connection ends for both, and the reason is told to the error handler, once. */
    private void expectEnd(String text) {
        until("ended", () -> here.connection == 0 && there.connection == 0);
        assertThat(there.lost).contains(text);
        assertThat(errors).hasSize(1);
        assertThat(errors.get(0)).hasMessageContaining(text);
        errors.clear();
    }

    /** A short message past the provider, from {@link #here}. */
    private void send(UnsafeBuffer bytes, int length, int tag) {
        assertThat(
                        ugni.vgn_smsg_send(
                                here.slot().endpoint, bytes.addressOffset(), length, 0, 0, 0, tag))
                .isZero();
        GniResources resources =
                here.transport.resources; // its event is none of the provider's operations
        assertThat(ugni.vgn_cq_get(resources.sourceQueue, resources.at(0))).isZero();
    }

    private static UnsafeBuffer bytes(int length) {
        return new UnsafeBuffer(BufferUtil.allocateDirectAligned(length, 64));
    }

    // ---- messages and notifications ----

    @Test
    void shouldEndAConnectionWithAMessageOfAnUnknownKind() {
        send(bytes(64), 64, UNKNOWN_KIND);
        expectEnd("sent a message that makes no sense");
        assertThat(there.messages).isZero();
    }

    @Test
    void shouldRefuseLengthsThatAMessageCannotHave() {
        UnsafeBuffer header = bytes(64);
        header.putInt(0, -1);
        send(header, 64, Mailboxes.MESSAGE);
        expectEnd("sent a message that makes no sense");
        assertThat(there.messages).isZero();
    }

    @Test
    void shouldRefuseALongMessageWhereThereAreNone() {
        send(bytes(64), 64, Mailboxes.LONG_MESSAGE);
        expectEnd("sent a message that makes no sense");
        assertThat(there.messages).isZero();
    }

    private void expectRefusedNotice(long offset, long length) {
        RemoteDescriptor d = there.descriptor();
        UnsafeBuffer notice = bytes(64);
        Notice.write(notice, d.keyLow(), d.keyHigh(), d.base() + offset, length, 5);
        send(notice, Notice.LENGTH, Mailboxes.NOTIFICATION);
        expectEnd("sent a notification that makes no sense");
        assertThat(there.notifications).isZero();
        connect();
    }

    @Test
    void shouldRefuseNotificationsOfBytesThatTheRegionDoesNotHave() {
        expectRefusedNotice(-8, 8);
        expectRefusedNotice(0, LENGTH + 1);
        expectRefusedNotice(8, -1);
        expectRefusedNotice(LENGTH, 1);
        expectRefusedNotice(8, Long.MAX_VALUE);
        here.transport.putNotify(
                here.connection, here.region, 0, there.descriptor(), 0, LENGTH, 1, 1, 0);
        until("notified", () -> there.notifications == 1);
        assertThat(errors).isEmpty();
    }

    @Test
    void shouldFindAMessageWhoseEventWasLostInAFullQueue() {
        GniConnection c = here.slot();
        GniResources resources = here.transport.resources;
        long stranger =
                resources.endpoint(
                        resources.sourceQueue, c.peer.address, c.peer.instance, Integer.MAX_VALUE);
        for (int i = 0; i < FLOOD; i++) {
            assertThat(
                            resources.putWord(
                                    stranger,
                                    c.peerMailbox,
                                    c.peerMailboxLow,
                                    c.peerMailboxHigh,
                                    0))
                    .isZero();
        }
        assertThat(ugni.vgn_ep_destroy(stranger)).isZero();
        assertThat(here.transport.send(here.connection, here.region, 0, 8, 1, 0))
                .isEqualTo(ACCEPTED);
        until("arrived", () -> there.messages == 1);
        assertThat(errors).isEmpty();
    }

    // ---- credits ----

    @Test
    void shouldHaveRoomForANotificationOnceItHasGivenTheCredit() {
        onMessage =
                () -> {
                    there.transport.retain(there.token);
                    there.transport.release(there.token);
                    // The handler has not returned, and the peer has its credit.
                    assertThat(
                                    here.transport.putNotify(
                                            here.connection,
                                            here.region,
                                            0,
                                            there.descriptor(),
                                            0,
                                            8,
                                            1,
                                            1,
                                            0))
                            .isEqualTo(ACCEPTED);
                    here.transport.poll(here, 64); // the put has ended: the notification follows
                };
        assertThat(here.transport.send(here.connection, here.region, 0, 8, 1, 0))
                .isEqualTo(ACCEPTED);
        until("both completed", () -> here.completions == 2);
        assertThat(here.status).isEqualTo(Status.OK);
        until("notified", () -> there.notifications == 1);
        assertThat(errors).isEmpty();
    }

    @Test
    void shouldEndAConnectionWhosePeerReturnsCreditsThatItDidNotHave() {
        assertThat(there.transport.send(there.connection, there.region, 0, 8, 1, 0))
                .isEqualTo(ACCEPTED);
        GniConnection c = here.slot();
        GniResources resources = here.transport.resources;
        assertThat(
                        resources.putWord(
                                c.endpoint, c.peerMailbox, c.peerMailboxLow, c.peerMailboxHigh, 9))
                .isNotNegative();
        assertThat(there.transport.send(there.connection, there.region, 0, 8, 1, 0))
                .isEqualTo(Transport.BACK_PRESSURED);
        expectEnd("returned credits that it did not have");
    }

    // ---- the control mailbox ----

    /**
     * Leaves a record at the control mailbox of {@link #there} that says it is from somebody else.
     */
    private void leave(int type, int address, int instance, long incarnation) {
        UnsafeBuffer bytes = bytes(ControlRecord.LENGTH + 4);
        ControlRecord record = new ControlRecord(bytes);
        record.sender(here.transport.resources);
        record.write(type, 0, 99, 1, 64, new byte[0]);
        bytes.putInt(20, address, LITTLE_ENDIAN);
        bytes.putInt(24, instance, LITTLE_ENDIAN);
        bytes.putLong(32, incarnation, LITTLE_ENDIAN);
        record.seal();
        assertThat(here.transport.resources.control.put(here.slot().peer, record))
                .isEqualTo(ControlMailbox.DELIVERED);
    }

    @Test
    void shouldRefuseRecordsOfNobodyByName() {
        int address = here.transport.resources.address;
        int instance = here.transport.resources.instance;
        long incarnation = here.transport.resources.incarnation;
        int refused = 0;
        for (int type : new int[] {ConnectionLife.CONNECT, ConnectionLife.ACCEPT}) {
            leave(type, -1, instance, incarnation);
            leave(type, address, -1, incarnation);
            leave(type, address, 0, incarnation);
            leave(type, address, instance, 0);
            refused += 4;
            int wanted = refused;
            until("refused", () -> errors.size() == wanted);
        }
        assertThat(errors).allMatch(e -> e.getMessage().contains("refused: instance"));
        assertThat(here.transport.send(here.connection, here.region, 0, 8, 1, 0))
                .isEqualTo(ACCEPTED);
        until("still connected", () -> there.messages == 1);
    }

    @Test
    void shouldKeepAPeerWhenAPredecessorOfItsAnswers() {
        GniResources resources = here.transport.resources;
        GniPeer peer = there.slot().peer;
        leave(
                ConnectionLife.ACCEPT,
                resources.address,
                resources.instance,
                resources.incarnation ^ 1L << 40);
        there.transport.poll(there, 64);
        long handle = there.transport.connect(here.transport.uri(), null, 0, 0, 1, 1_000_000_000L);
        assertThat(there.transport.connections.find(handle).peer).isSameAs(peer);
        assertThat(errors).isEmpty();
    }

    @Test
    void shouldTakeARecordThatCameWhileManyEventsWaited() {
        here.transport.disconnect(here.connection);
        here.connection = 0;
        until("disconnected", () -> there.connection == 0);
        EventRing ring = there.transport.ring;
        while (!ring.isBacklogged()) {
            ring.add(handler -> {});
        }
        long asked = here.transport.connect(there.transport.uri(), null, 0, 0, 1, 5_000_000_000L);
        GniConnection c = here.transport.connections.find(asked);
        Await.until(
                () -> "arrived", () -> here.transport.poll(here, 64) >= 0 && c.pendingRecord == 0);
        there.transport.inbox.hasWork(); // takes the record's event
        until("connected", () -> here.connection != 0 && there.connection != 0);
    }

    // ---- registrations ----

    /** How many slots of {@link #here} have memory for a mailbox. */
    private long mailboxes() {
        Connections connections = here.transport.connections;
        return IntStream.range(0, CONNECTIONS).filter(i -> connections.at(i).mailbox != 0).count();
    }

    @Test
    void shouldFailToConnectByAnEventWhenNoRegistrationIsLeft() {
        GniTransport transport = here.transport;
        List<RegisteredRegion> regions = new ArrayList<>();
        OffHeapMemory memory = OffHeapMemories.allocate(64);
        try {
            assertThatThrownBy(
                            () -> {
                                while (true) {
                                    regions.add(transport.register(memory, 0));
                                }
                            })
                    .isInstanceOf(TransportException.class);
            assertThat(transport.connect(there.transport.uri(), null, 0, 0, 1, 1_000_000_000L))
                    .isPositive();
            until("failed", () -> !here.reason.isEmpty());
            assertThat(here.status).isEqualTo(Status.INTERNAL);
            assertThat(here.reason).contains("GNI_MemRegister");
            assertThat(mailboxes()).as("its memory waits for the next connection").isEqualTo(2);
        } finally {
            regions.forEach(RegisteredRegion::close);
            memory.close();
        }
        here.connection = 0;
        transport.connect(there.transport.uri(), null, 0, 0, 1, 20_000_000_000L);
        until("connected again", () -> here.connection != 0);
    }

    // ---- time ----

    @Test
    void shouldWatchPeersAlsoWhileAConnectMayTakeForever() {
        GniTransport transport = here.transport;
        transport.connect(there.transport.uri(), null, 0, 0, 1, Long.MAX_VALUE);
        long leftNs = transport.connections.nextTimerNs() - transport.nanoTime();
        assertThat(leftNs).isLessThanOrEqualTo(1_000_000_000L);
        transport.poll(here, 64);
        assertThat(here.connection).isPositive();
    }
}
