package dev.verbena.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Arrays;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** rdma_cm against a real kernel: both ends in this process. */
@Tag("verbs-device")
@Timeout(180)
class ConnectionDeviceIT {
    private static final long PATIENCE_NS = RealConnection.PATIENCE_NS;
    private static final int UD_HEADER = 40;

    private ConnectionChannel serverChannel;
    private ConnectionChannel clientChannel;

    @BeforeEach
    void open() {
        RealDevice.open().close();
        assumeTrue(ConnectionChannel.unavailabilityCause() == null, "no librdmacm here");
        serverChannel = ConnectionChannel.open();
        clientChannel = ConnectionChannel.open();
    }

    @AfterEach
    void close() {
        if (clientChannel != null) {
            clientChannel.close();
            serverChannel.close();
        }
    }

    private ConnectionIdentifier listener(PortSpace space, boolean isIpv6) throws Exception {
        ConnectionIdentifier listener = serverChannel.createIdentifier(space);
        listener.bind(RealConnection.localAddress(isIpv6, 0));
        listener.listen(4);
        return listener;
    }

    private static byte[] bytes(int length, int first) {
        byte[] bytes = new byte[length];
        for (int i = 0; i < length; i++) {
            bytes[i] = (byte) (first + i);
        }
        return bytes;
    }

    private static void assertStartsWith(byte[] received, byte[] sent) {
        assertThat(received.length).isGreaterThanOrEqualTo(sent.length);
        assertThat(Arrays.copyOf(received, sent.length)).isEqualTo(sent);
    }

    @Test
    void shouldConnectExchangePrivateDataAndTransfer() throws Exception {
        try (ConnectionIdentifier listener = listener(PortSpace.TCP, false);
                ConnectionIdentifier client = clientChannel.createIdentifier(PortSpace.TCP)) {
            client.typeOfService(0x20);
            client.resolve(listener.localAddress(), PATIENCE_NS);
            assertThat(client.peerAddress()).isEqualTo(listener.localAddress());
            assertThat(client.port()).isEqualTo(1);
            try (RealConnection from = new RealConnection(client)) {
                client.connect(from.queue, new ConnectionContext().privateData(bytes(56, 1)));
                ConnectionEvent request = listener.awaitRequest(PATIENCE_NS);
                assertStartsWith(request.privateData(), bytes(56, 1));
                try (RealConnection to = new RealConnection(request.identifier())) {
                    ConnectionContext context = new ConnectionContext().privateData(bytes(196, 7));
                    to.identifier.prepare(to.queue, context);
                    to.queue.post(to.receives.set(0, 70, to.region, 0, 1000), 0, 1);
                    to.identifier.accept(to.queue, context);
                    ConnectionEvent established =
                            client.await(ConnectionEventType.ESTABLISHED, PATIENCE_NS);
                    assertStartsWith(established.privateData(), bytes(196, 7));
                    to.identifier.await(ConnectionEventType.ESTABLISHED, PATIENCE_NS);
                    transfer(from, to);
                    client.disconnect();
                    to.identifier.await(ConnectionEventType.DISCONNECTED, PATIENCE_NS);
                    client.await(ConnectionEventType.DISCONNECTED, PATIENCE_NS);
                    assertThat(from.queue.state()).isEqualTo(QueuePairState.ERROR);
                    to.identifier.disconnect();
                }
            }
        }
    }

    /**
     * The accepting end moves to a channel of its own before it accepts; then the connecting end,
     * whose next event arrives there.
     */
    @Test
    void shouldMoveToAnotherChannel() throws Exception {
        try (ConnectionChannel own = ConnectionChannel.open();
                ConnectionIdentifier listener = listener(PortSpace.TCP, false);
                ConnectionIdentifier client = clientChannel.createIdentifier(PortSpace.TCP)) {
            client.resolve(listener.localAddress(), PATIENCE_NS);
            RealConnection from = new RealConnection(client);
            client.connect(from.queue, new ConnectionContext());
            ConnectionEvent request = listener.awaitRequest(PATIENCE_NS);
            try (RealConnection to = new RealConnection(request.identifier().migrate(own))) {
                ConnectionContext defaults = new ConnectionContext();
                to.identifier.prepare(to.queue, defaults);
                to.queue.post(to.receives.set(0, 70, to.region, 0, 1000), 0, 1);
                to.identifier.accept(to.queue, defaults);
                try (ConnectionIdentifier moved = client.migrate(serverChannel)) {
                    moved.await(ConnectionEventType.ESTABLISHED, PATIENCE_NS);
                    ConnectionEvent established = own.await(PATIENCE_NS);
                    assertThat(established.type()).isEqualTo(ConnectionEventType.ESTABLISHED);
                    assertThat(established.identifier()).isSameAs(to.identifier);
                    transfer(from, to);
                    moved.disconnect();
                    to.identifier.await(ConnectionEventType.DISCONNECTED, PATIENCE_NS);
                }
            } finally {
                from.close();
            }
        }
    }

    /**
     * The connecting end does not look at the answer, so it does not say that it has come; its
     * first message would be the sign of it.
     */
    @Test
    void shouldBeEstablishedByWhatTheDeviceSaw() throws Exception {
        AsyncEvent sawAMessage = new AsyncEvent(AsyncEvent.COMMUNICATION_ESTABLISHED, null, 0);
        try (ConnectionIdentifier listener = listener(PortSpace.TCP, false);
                ConnectionIdentifier client = clientChannel.createIdentifier(PortSpace.TCP)) {
            client.resolve(listener.localAddress(), PATIENCE_NS);
            try (RealConnection from = new RealConnection(client)) {
                client.connect(from.queue, new ConnectionContext());
                ConnectionEvent request = listener.awaitRequest(PATIENCE_NS);
                try (RealConnection to = new RealConnection(request.identifier())) {
                    assertThatThrownBy(() -> to.identifier.report(sawAMessage))
                            .isInstanceOf(VerbsException.class)
                            .hasMessageContaining("rdma_notify");
                    to.identifier.accept(to.queue, new ConnectionContext());
                    assertThat(to.identifier.await(0)).isNull();
                    to.identifier.report(sawAMessage);
                    to.identifier.await(ConnectionEventType.ESTABLISHED, PATIENCE_NS);
                }
            }
        }
    }

    private static void transfer(RealConnection from, RealConnection to) {
        from.bytes.putBytes(0, bytes(1000, 5));
        SendRequestFlyweight send = from.sends.at(0).segment(from.region, 0, 1000).send();
        assertThat(from.run(send).isSuccess()).isTrue();
        CompletionFlyweight received = to.next();
        assertThat(received.id()).isEqualTo(70);
        assertThat(received.length()).isEqualTo(1000);
        int key = to.region.remoteKey();
        send.segment(from.region, 0, 900).write(to.region.remoteAddress(5000), key);
        assertThat(from.run(send).isSuccess()).isTrue();
        send.segment(from.region, 10_000, 900).read(to.region.remoteAddress(5000), key);
        assertThat(from.run(send).isSuccess()).isTrue();
        byte[] back = new byte[900];
        from.bytes.getBytes(10_000, back);
        assertThat(back).isEqualTo(bytes(900, 5));
    }

    @Test
    void shouldConnectOverIpv6() throws Exception {
        try (ConnectionIdentifier listener = listener(PortSpace.TCP, true);
                ConnectionIdentifier client = clientChannel.createIdentifier(PortSpace.TCP)) {
            ConnectionContext defaults = new ConnectionContext();
            RealConnection[] ends = RealConnection.connect(listener, client, defaults, defaults);
            try (RealConnection from = ends[0];
                    RealConnection to = ends[1]) {
                to.queue.post(to.receives.set(0, 70, to.region, 0, 1000), 0, 1);
                transfer(from, to);
            }
        }
    }

    @Test
    void shouldHaveNoMoreReadsInFlightThanBothAllow() throws Exception {
        try (ConnectionIdentifier listener = listener(PortSpace.TCP, false);
                ConnectionIdentifier client = clientChannel.createIdentifier(PortSpace.TCP)) {
            RealConnection[] ends =
                    RealConnection.connect(
                            listener,
                            client,
                            new ConnectionContext().responderResources(16).initiatorDepth(8),
                            new ConnectionContext().responderResources(4).initiatorDepth(2));
            try (RealConnection from = ends[0];
                    RealConnection to = ends[1]) {
                assertThat(from.queue.attributes().readsMax()).isEqualTo(4);
                assertThat(from.queue.attributes().peerReadsMax()).isEqualTo(2);
                assertThat(to.queue.attributes().readsMax()).isEqualTo(2);
                assertThat(to.queue.attributes().peerReadsMax()).isEqualTo(4);
            }
        }
    }

    @Test
    void shouldRefuseCallsThatComeBeforeThereIsADevice() {
        try (ConnectionIdentifier client = clientChannel.createIdentifier(PortSpace.TCP)) {
            assertThatThrownBy(() -> client.resolveRoute(PATIENCE_NS))
                    .isInstanceOf(IllegalStateException.class);
            client.bind(RealConnection.anyAddress());
            assertThatThrownBy(() -> client.resolveRoute(PATIENCE_NS))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("has no device yet");
            assertThatThrownBy(client::disconnect).isInstanceOf(IllegalStateException.class);
            assertThatThrownBy(() -> client.reject(new byte[0])).isInstanceOf(VerbsException.class);
        }
    }

    @Test
    void shouldRefuseWhoComesWhileABacklogWaits() throws Exception {
        try (ConnectionIdentifier listener = serverChannel.createIdentifier(PortSpace.TCP);
                ConnectionIdentifier other = serverChannel.createIdentifier(PortSpace.TCP);
                ConnectionIdentifier first = clientChannel.createIdentifier(PortSpace.TCP);
                ConnectionIdentifier second = clientChannel.createIdentifier(PortSpace.TCP)) {
            listener.bind(RealConnection.localAddress(false, 0));
            listener.listen(1);
            first.resolve(listener.localAddress(), PATIENCE_NS);
            second.resolve(listener.localAddress(), PATIENCE_NS);
            try (RealConnection a = new RealConnection(first);
                    RealConnection b = new RealConnection(second)) {
                first.connect(a.queue, new ConnectionContext());
                assertThat(other.await(1_000_000_000L)).isNull();
                second.connect(b.queue, new ConnectionContext());
                long deadlineNs = System.nanoTime() + PATIENCE_NS;
                ConnectionEvent refused = null;
                while (refused == null && deadlineNs - System.nanoTime() > 0) {
                    other.await(10_000_000L);
                    refused = second.await(10_000_000L);
                }
                assertThat(refused).as("the second one's event").isNotNull();
                assertThat(refused.type()).isEqualTo(ConnectionEventType.REJECTED);
                listener.awaitRequest(PATIENCE_NS).identifier().close();
                assertThat(first.await(PATIENCE_NS).type()).isEqualTo(ConnectionEventType.REJECTED);
                assertThat(listener.await(0)).isNull();
            }
        }
    }

    @Test
    void shouldTellTheClientWhyItWasRejected() throws Exception {
        try (ConnectionIdentifier listener = listener(PortSpace.TCP, false);
                ConnectionIdentifier client = clientChannel.createIdentifier(PortSpace.TCP)) {
            client.resolve(listener.localAddress(), PATIENCE_NS);
            try (RealConnection from = new RealConnection(client)) {
                client.connect(from.queue, new ConnectionContext());
                try (ConnectionIdentifier refused =
                        listener.awaitRequest(PATIENCE_NS).identifier()) {
                    refused.reject(bytes(148, 3));
                    assertThatThrownBy(
                                    () ->
                                            client.await(
                                                    ConnectionEventType.ESTABLISHED, PATIENCE_NS))
                            .isInstanceOfSatisfying(
                                    ConnectionException.class,
                                    e -> {
                                        assertThat(e.event().status()).isEqualTo(28);
                                        assertStartsWith(e.event().privateData(), bytes(148, 3));
                                    });
                }
            }
        }
    }

    @Test
    void shouldTellThatNobodyListens() throws Exception {
        int port;
        try (ConnectionIdentifier listener = listener(PortSpace.TCP, false)) {
            port = listener.localAddress().getPort();
        }
        try (ConnectionIdentifier client = clientChannel.createIdentifier(PortSpace.TCP)) {
            client.resolve(RealConnection.localAddress(false, port), PATIENCE_NS);
            try (RealConnection from = new RealConnection(client)) {
                client.connect(from.queue, new ConnectionContext());
                assertThatThrownBy(() -> client.await(ConnectionEventType.ESTABLISHED, PATIENCE_NS))
                        .isInstanceOf(ConnectionException.class)
                        .hasMessageContaining("REJECTED")
                        .hasMessageContaining("nobody listens at that port");
            }
        }
    }

    @Test
    void shouldTellThatNoDeviceOrNobodyIsThere() throws Exception {
        try (ConnectionIdentifier client = clientChannel.createIdentifier(PortSpace.TCP)) {
            InetSocketAddress here = RealConnection.localAddress(false, 0);
            byte[] neighbour = here.getAddress().getAddress();
            neighbour[3] = (byte) 233;
            InetSocketAddress nobody =
                    new InetSocketAddress(InetAddress.getByAddress(neighbour), 1);
            assertThatThrownBy(() -> client.resolve(nobody, 2_000_000_000L))
                    .isInstanceOf(VerbsException.class);
        }
        try (ConnectionIdentifier client = clientChannel.createIdentifier(PortSpace.TCP)) {
            InetSocketAddress nowhere = new InetSocketAddress("192.0.2.1", 1);
            assertThatThrownBy(() -> client.resolve(nowhere, 2_000_000_000L))
                    .isInstanceOf(VerbsException.class);
        }
    }

    @Test
    void shouldKeepToThePortAndSourceThatWereAskedFor() throws Exception {
        try (ConnectionIdentifier listener = listener(PortSpace.TCP, false);
                ConnectionIdentifier second = serverChannel.createIdentifier(PortSpace.TCP);
                ConnectionIdentifier client = clientChannel.createIdentifier(PortSpace.TCP)) {
            InetSocketAddress taken = listener.localAddress();
            assertThat(taken.getPort()).isPositive();
            assertThatThrownBy(() -> second.bind(taken))
                    .isInstanceOfSatisfying(
                            VerbsException.class, e -> assertThat(e.errno()).isEqualTo(98));
            InetSocketAddress source = RealConnection.localAddress(false, 0);
            client.resolveAddress(source, taken, PATIENCE_NS);
            client.await(ConnectionEventType.ADDRESS_RESOLVED, PATIENCE_NS);
            assertThat(client.localAddress().getAddress()).isEqualTo(source.getAddress());
        }
    }

    @Test
    void shouldServeSeveralConnectionsOfOneChannelByItsEvents() throws Exception {
        ConnectionContext context = new ConnectionContext();
        try (ConnectionIdentifier listener = listener(PortSpace.TCP, false);
                ConnectionIdentifier a = serverChannel.createIdentifier(PortSpace.TCP);
                ConnectionIdentifier b = serverChannel.createIdentifier(PortSpace.TCP)) {
            RealConnection[] ofA = RealConnection.connect(listener, a, context, context);
            RealConnection[] ofB = RealConnection.connect(listener, b, context, context);
            try (RealConnection a0 = ofA[0];
                    RealConnection a1 = ofA[1];
                    RealConnection b0 = ofB[0];
                    RealConnection b1 = ofB[1]) {
                a1.queue.post(a1.receives.set(0, 70, a1.region, 0, 1000), 0, 1);
                b1.queue.post(b1.receives.set(0, 70, b1.region, 0, 1000), 0, 1);
                transfer(a0, a1);
                transfer(b0, b1);
                // Closing an end ends the connection; the other one is told.
                a.close();
                ConnectionEvent event = serverChannel.await(PATIENCE_NS);
                assertThat(event.type()).isEqualTo(ConnectionEventType.DISCONNECTED);
                assertThat(event.identifier()).isSameAs(a1.identifier);
                b1.queue.post(b1.receives.set(0, 70, b1.region, 0, 1000), 0, 1);
                transfer(b0, b1);
            }
        }
    }

    @Test
    void shouldExchangeDatagramsWithAPeerThatWasResolved() throws Exception {
        ConnectionContext context = new ConnectionContext();
        try (ConnectionIdentifier listener = listener(PortSpace.UDP, false);
                ConnectionIdentifier client = clientChannel.createIdentifier(PortSpace.UDP)) {
            client.resolve(listener.localAddress(), PATIENCE_NS);
            try (RealConnection from = new RealConnection(client)) {
                client.connect(from.queue, context.privateData(bytes(180, 9)));
                ConnectionEvent request = listener.awaitRequest(PATIENCE_NS);
                assertStartsWith(request.privateData(), bytes(180, 9));
                try (RealConnection to = new RealConnection(request.identifier())) {
                    to.identifier.prepare(to.queue, context);
                    to.queue.post(to.receives.set(0, 70, to.region, 0, 1000), 0, 1);
                    to.identifier.accept(to.queue, context.privateData(bytes(136, 2)));
                    ConnectionEvent peer =
                            client.await(ConnectionEventType.ESTABLISHED, PATIENCE_NS);
                    assertStartsWith(peer.privateData(), bytes(136, 2));
                    assertThat(peer.queuePairNumber()).isEqualTo(to.queue.number());
                    sendDatagram(from, peer, to);
                }
            }
        }
    }

    private static void sendDatagram(
            RealConnection from, ConnectionEvent target, RealConnection to) {
        from.bytes.putBytes(0, bytes(500, 5));
        try (AddressHandle handle = target.createAddressHandle(from.domain)) {
            SendRequestFlyweight send =
                    from.sends
                            .at(0)
                            .segment(from.region, 0, 500)
                            .send()
                            .to(handle, target.queuePairNumber(), target.queueKey());
            assertThat(from.run(send).isSuccess()).isTrue();
        }
        CompletionFlyweight received = to.next();
        assertThat(received.id()).isEqualTo(70);
        assertThat(received.length()).isEqualTo(500 + UD_HEADER);
        byte[] payload = new byte[500];
        to.bytes.getBytes(UD_HEADER, payload);
        assertThat(payload).isEqualTo(bytes(500, 5));
    }

    /**
     * Without a message: when one has been received, Soft-RoCE of kernel 6.1 takes 50 s to destroy
     * the queue pair. One was, by hand.
     */
    @Test
    void shouldJoinAndLeaveAMulticastGroup() throws Exception {
        InetAddress group = InetAddress.getByName("239.77.1.2");
        try (ConnectionIdentifier member = serverChannel.createIdentifier(PortSpace.UDP)) {
            member.bind(RealConnection.localAddress(false, 0));
            try (RealConnection end = new RealConnection(member)) {
                member.prepare(end.queue, new ConnectionContext());
                member.joinMulticast(group, false);
                ConnectionEvent joined =
                        member.await(ConnectionEventType.MULTICAST_JOIN, PATIENCE_NS);
                assertThat(joined.queuePairNumber()).isEqualTo(0xffffff);
                end.queue.joinMulticast(joined.group(), 0);
                joined.createAddressHandle(end.domain).close();
                end.queue.leaveMulticast(joined.group(), 0);
                member.leaveMulticast(group);
                assertThatThrownBy(() -> member.leaveMulticast(group))
                        .isInstanceOf(VerbsException.class);
            }
        }
    }
}
