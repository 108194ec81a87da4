package dev.verbena.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.rdma.calls.VerbsLayout;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** rdma_cm over the recording libraries: arguments as C gets them, events, errors, ownership. */
@Timeout(120)
class ConnectionTest extends StubbedConnections {
    @Test
    void shouldPassSocketAddressesAsTheyLieInC() throws Exception {
        try (ConnectionIdentifier identifier = channel.createIdentifier(PortSpace.TCP)) {
            assertThat(stub.argument(0)).isEqualTo(0x106);
            assertThat(identifier.hasDevice()).isFalse();
            assertThat(identifier.localAddress()).isNull();
            assertThatThrownBy(identifier::deviceName)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("no device yet");
            InetSocketAddress here = address(0x1234, 10, 99, 0, 1);
            identifier.bind(here);
            assertThat(stub.bytes(0, 16))
                    .containsExactly(2, 0, 0x12, 0x34, 10, 99, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0);
            assertThat(identifier.localAddress()).isEqualTo(here);
            assertThat(identifier.deviceName()).isEqualTo(VerbsStub.RECORDING);
            assertThat(identifier.port()).isEqualTo(1);
            byte[] ipv6 = InetAddress.getByName("fe80::1:2").getAddress();
            InetSocketAddress there =
                    new InetSocketAddress(Inet6Address.getByAddress(null, ipv6, 7), 0xabcd);
            identifier.resolveAddress(here, there, 1_500_000L);
            assertThat(stub.argument(0)).as("milliseconds").isEqualTo(2);
            assertThat(stub.bytes(0, 4)).containsExactly(10, 0, 0xab, 0xcd);
            assertThat(stub.bytes(8, 16)).isEqualTo(ipv6);
            assertThat(stub.bytes(24, 4)).containsExactly(7, 0, 0, 0);
            assertThat(stub.bytes(128, 8)).containsExactly(2, 0, 0x12, 0x34, 10, 99, 0, 1);
            assertThat(identifier.peerAddress()).isEqualTo(there);
            identifier.resolveAddress(there, SECOND_NS);
            assertThat(stub.argument(1)).as("a source was given").isZero();
            assertThatThrownBy(
                            () -> identifier.bind(InetSocketAddress.createUnresolved("nobody", 1)))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("nobody");
        }
    }

    @Test
    void shouldSetOptions() {
        try (ConnectionIdentifier identifier = channel.createIdentifier(PortSpace.TCP)) {
            identifier.typeOfService(0xa0);
            assertOption(0, 0xa0, 1);
            identifier.reuseAddress(true);
            assertOption(1, 1, 4);
            identifier.ipv6Only(true);
            assertOption(2, 1, 4);
            identifier.acknowledgeTimeoutCode(17);
            assertOption(3, 17, 1);
            assertThatThrownBy(() -> identifier.typeOfService(256))
                    .isInstanceOf(IllegalArgumentException.class);
            stub.fail("rdma_set_option", EINVAL);
            assertThatThrownBy(() -> identifier.reuseAddress(false))
                    .isInstanceOf(VerbsException.class)
                    .hasMessageContaining("rdma_set_option: EINVAL (22) for connection identifier");
        }
    }

    private void assertOption(int option, int value, int length) {
        assertThat(stub.argument(0)).isZero();
        assertThat(stub.argument(1)).isEqualTo(option);
        assertThat(stub.argument(2)).isEqualTo(value);
        assertThat(stub.argument(3)).isEqualTo(length);
    }

    @Test
    void shouldConnectAQueuePairOfItsOwn() throws Exception {
        try (StubPair pair = new StubPair(QueuePairType.RC);
                ConnectionIdentifier identifier = resolved(PortSpace.TCP)) {
            ConnectionContext context =
                    new ConnectionContext()
                            .privateData(counting(56))
                            .responderResources(5)
                            .initiatorDepth(6)
                            .retries(3)
                            .notReadyRetries(2)
                            .timeoutCode(11)
                            .notReadyTimerCode(13)
                            .access(Access.LOCAL_WRITE | Access.REMOTE_READ);
            stub.forgetCalls();
            identifier.connect(pair.queue, context);
            assertThat(stub.calls()).containsExactly("rdma_init_qp_attr", "rdma_connect");
            assertThat(stub.data(56)).isEqualTo(counting(56));
            assertThat(stub.byteArgument(VerbsLayout.RDMA_CONN_PARAM_PRIVATE_DATA_LEN))
                    .isEqualTo(56);
            assertThat(stub.bytes(VerbsLayout.RDMA_CONN_PARAM_RESPONDER_RESOURCES, 5))
                    .containsExactly(5, 6, 1, 3, 2);
            assertThat(stub.intArgument(VerbsLayout.RDMA_CONN_PARAM_QP_NUM))
                    .isEqualTo(pair.queue.number());
            VerbsStub verbs = pair.stub;
            assertThat(verbs.argument(0))
                    .as("INIT; the kernel's own bits are left out")
                    .isEqualTo(0x39);
            assertThat(verbs.intArgument(VerbsLayout.QP_ATTR_QP_ACCESS_FLAGS)).isEqualTo(5);
            stub.forgetCalls();
            stub.tell(ConnectionEventType.CONNECT_RESPONSE, 0, identifier, 196);
            ConnectionEvent event = identifier.await(ConnectionEventType.ESTABLISHED, SECOND_NS);
            assertThat(stub.calls())
                    .containsExactly(
                            "rdma_get_cm_event",
                            "rdma_ack_cm_event",
                            "rdma_init_qp_attr",
                            "rdma_init_qp_attr",
                            "rdma_establish");
            assertThat(event.privateData()).isEqualTo(counting(196));
            assertThat(pair.queue.state()).isEqualTo(QueuePairState.READY_TO_SEND);
            assertThat(verbs.byteArgument(VerbsLayout.QP_ATTR_TIMEOUT)).isEqualTo(11);
            assertThat(verbs.byteArgument(VerbsLayout.QP_ATTR_RETRY_CNT)).isEqualTo(3);
            assertThat(verbs.intArgument(VerbsLayout.QP_ATTR_SQ_PSN)).isEqualTo(0x123);
            assertThat(verbs.byteArgument(VerbsLayout.QP_ATTR_MAX_RD_ATOMIC))
                    .as("the peer answers more")
                    .isEqualTo(6);
            identifier.disconnect();
            assertThat(pair.queue.state()).isEqualTo(QueuePairState.ERROR);
        }
    }

    @Test
    void shouldAcceptWithAtMostWhatThePeerAskedFor() throws Exception {
        try (StubPair pair = new StubPair(QueuePairType.RC);
                ConnectionIdentifier listener = channel.createIdentifier(PortSpace.TCP)) {
            listener.bind(address(7471, 10, 99, 0, 1));
            listener.listen(17);
            assertThat(stub.argument(0)).isEqualTo(17);
            stub.tellRequest(listener, 56);
            ConnectionEvent request = listener.awaitRequest(SECOND_NS);
            assertThat(request.listener()).isSameAs(listener);
            assertThat(request.privateData()).isEqualTo(counting(56));
            assertThat(request.responderResources()).isEqualTo(4);
            assertThat(request.initiatorDepth()).isEqualTo(9);
            assertThat(request.queuePairNumber()).isEqualTo(0x555);
            try (ConnectionIdentifier peer = request.identifier()) {
                stub.forgetCalls();
                ConnectionContext context =
                        new ConnectionContext()
                                .responderResources(16)
                                .initiatorDepth(2)
                                .privateData(counting(196));
                peer.accept(pair.queue, context);
                assertThat(stub.calls())
                        .containsExactly(
                                "rdma_init_qp_attr",
                                "rdma_init_qp_attr",
                                "rdma_init_qp_attr",
                                "rdma_accept");
                assertThat(stub.bytes(VerbsLayout.RDMA_CONN_PARAM_RESPONDER_RESOURCES, 2))
                        .containsExactly(4, 2);
                assertThat(pair.stub.byteArgument(VerbsLayout.QP_ATTR_MAX_RD_ATOMIC))
                        .as("reads in flight, of those that the peer answers")
                        .isEqualTo(2);
                assertThat(stub.data(196)).isEqualTo(counting(196));
                assertThat(pair.queue.state()).isEqualTo(QueuePairState.READY_TO_SEND);
                assertThatThrownBy(channel::close)
                        .isInstanceOf(IllegalStateException.class)
                        .hasMessageContaining(peer.toString());
            }
        }
    }

    @Test
    void shouldRejectWithPrivateData() throws Exception {
        try (ConnectionIdentifier listener = channel.createIdentifier(PortSpace.TCP)) {
            stub.tellRequest(listener, 0);
            try (ConnectionIdentifier peer = listener.awaitRequest(SECOND_NS).identifier()) {
                assertThatThrownBy(() -> peer.reject(new byte[149]))
                        .isInstanceOf(IllegalArgumentException.class)
                        .hasMessageContaining("at most 148");
                peer.reject(counting(148));
                assertThat(stub.argument(0)).isEqualTo(148);
                assertThat(stub.data(148)).isEqualTo(counting(148));
            }
        }
    }

    @Test
    void shouldThrowWhatThePeerSaidWhenItRejects() throws Exception {
        try (StubPair pair = new StubPair(QueuePairType.RC);
                ConnectionIdentifier identifier = resolved(PortSpace.TCP)) {
            identifier.connect(pair.queue, new ConnectionContext());
            stub.tell(ConnectionEventType.REJECTED, 28, identifier, 5);
            assertThatThrownBy(() -> identifier.await(ConnectionEventType.ESTABLISHED, SECOND_NS))
                    .isInstanceOfSatisfying(
                            ConnectionException.class,
                            e -> {
                                assertThat(e.errno()).isEqualTo(111);
                                assertThat(e.event().privateData()).isEqualTo(counting(5));
                            })
                    .hasMessageContaining("ECONNREFUSED (111)")
                    .hasMessageContaining("REJECTED")
                    .hasMessageContaining("the program there refused");
            stub.tell(ConnectionEventType.REJECTED, 8, identifier, 0);
            assertThatThrownBy(() -> identifier.await(ConnectionEventType.ESTABLISHED, SECOND_NS))
                    .hasMessageContaining("nobody listens at that port");
            stub.tell(ConnectionEventType.UNREACHABLE, -110, identifier, 0);
            assertThatThrownBy(() -> identifier.await(ConnectionEventType.ESTABLISHED, SECOND_NS))
                    .hasMessageContaining("ETIMEDOUT (110)")
                    .hasMessageContaining("nobody answers there");
        }
    }

    @Test
    void shouldKeepEventsForWhomTheyConcern() throws Exception {
        try (ConnectionIdentifier a = channel.createIdentifier(PortSpace.TCP);
                ConnectionIdentifier b = channel.createIdentifier(PortSpace.TCP)) {
            stub.tell(ConnectionEventType.ADDRESS_RESOLVED, 0, a, 0);
            stub.tell(ConnectionEventType.ADDRESS_ERROR, -ENODEV, b, 0);
            stub.tell(ConnectionEventType.ROUTE_RESOLVED, 0, a, 0);
            ConnectionEvent ofB = b.await(SECOND_NS);
            assertThat(ofB.type()).isEqualTo(ConnectionEventType.ADDRESS_ERROR);
            assertThat(ofB.identifier()).isSameAs(b);
            assertThat(channel.await(0).type()).isEqualTo(ConnectionEventType.ADDRESS_RESOLVED);
            assertThat(a.await(0).type()).isEqualTo(ConnectionEventType.ROUTE_RESOLVED);
            assertThat(channel.await(0)).isNull();
        }
    }

    @Test
    void shouldCloseWhoeverConnectedUnseenWithTheListener() {
        ConnectionIdentifier other = channel.createIdentifier(PortSpace.TCP);
        ConnectionIdentifier listener = channel.createIdentifier(PortSpace.TCP);
        stub.tellRequest(listener, 0);
        stub.tell(ConnectionEventType.DISCONNECTED, 0, other, 0);
        assertThat(other.await(SECOND_NS).type()).isEqualTo(ConnectionEventType.DISCONNECTED);
        listener.close();
        other.close();
        assertThat(stub.openObjects()).isEqualTo(objectsBefore);
    }

    @Test
    void shouldLearnThePeerOfDatagramsAndTheWayToIt() throws Exception {
        try (StubPair pair = new StubPair(QueuePairType.UD);
                ConnectionIdentifier identifier = resolved(PortSpace.UDP)) {
            identifier.connect(pair.queue, new ConnectionContext().privateData(counting(180)));
            assertThat(stub.data(180)).isEqualTo(counting(180));
            assertThat(pair.queue.state()).isEqualTo(QueuePairState.READY_TO_SEND);
            stub.tell(ConnectionEventType.ESTABLISHED, 0, identifier, 136);
            ConnectionEvent event = identifier.await(ConnectionEventType.ESTABLISHED, SECOND_NS);
            assertThat(event.queueKey()).isEqualTo(0x01234567);
            assertThat(event.queuePairNumber()).isEqualTo(0xffffff);
            assertThat(event.privateData()).isEqualTo(counting(136));
            assertThat(event.hasAddress()).isTrue();
            try (AddressHandle handle = event.createAddressHandle(pair.domain)) {
                assertThat(pair.stub.call()).isEqualTo("ibv_create_ah");
                assertThat(pair.stub.byteArgument(VerbsLayout.AH_ATTR_GRH_DGID + 15))
                        .isEqualTo(0x42);
                assertThat(pair.stub.byteArgument(VerbsLayout.AH_ATTR_IS_GLOBAL)).isEqualTo(1);
                assertThat(handle.isClosed()).isFalse();
            }
        }
    }

    @Test
    void shouldJoinAndLeaveMulticastGroups() throws Exception {
        try (ConnectionIdentifier identifier = resolved(PortSpace.UDP)) {
            InetAddress group = InetAddress.getByName("239.1.2.3");
            byte[] inC = {2, 0, 0, 0, (byte) 239, 1, 2, 3};
            identifier.joinMulticast(group, false);
            assertThat(stub.call()).isEqualTo("rdma_join_multicast");
            assertThat(stub.bytes(0, 8)).isEqualTo(inC);
            stub.tell(ConnectionEventType.MULTICAST_JOIN, 0, identifier, 0);
            ConnectionEvent joined =
                    identifier.await(ConnectionEventType.MULTICAST_JOIN, SECOND_NS);
            assertThat(joined.group().bytes()[15]).isEqualTo((byte) 0x42);
            identifier.leaveMulticast(group);
            assertThat(stub.call()).isEqualTo("rdma_leave_multicast");
            assertThat(stub.bytes(0, 8)).isEqualTo(inC);
            identifier.joinMulticast(InetAddress.getByName("ff0e::99"), true);
            assertThat(stub.call()).isEqualTo("rdma_join_multicast_ex");
            assertThat(stub.argument(0)).isEqualTo(3);
            assertThat(stub.argument(1)).isEqualTo(1);
            assertThat(stub.bytes(0, 1)).containsExactly(10);
            assertThat(stub.bytes(8, 1)).containsExactly((byte) 0xff);
        }
    }

    @Test
    void shouldTellEventsThatNobodyAskedFor() {
        try (ConnectionIdentifier identifier = channel.createIdentifier(PortSpace.TCP)) {
            stub.tell(ConnectionEventType.DEVICE_REMOVAL, 0, identifier, 0);
            ConnectionEvent removed = channel.await(SECOND_NS);
            assertThat(removed.type()).isEqualTo(ConnectionEventType.DEVICE_REMOVAL);
            assertThat(removed.type().isError()).isTrue();
            assertThatThrownBy(removed::group).isInstanceOf(IllegalStateException.class);
            stub.tell(77, 0, identifier.address(), 0, false, 0);
            ConnectionEvent unknown = channel.await(SECOND_NS);
            assertThat(unknown.type()).isEqualTo(ConnectionEventType.OTHER);
            assertThat(unknown.toString()).contains("event 77");
            stub.tell(ConnectionEventType.TIMEWAIT_EXIT, 0, identifier, 0);
            stub.tell(ConnectionEventType.DISCONNECTED, 0, identifier, 0);
            assertThat(identifier.await(ConnectionEventType.DISCONNECTED, SECOND_NS).status())
                    .isZero();
        }
    }
}
