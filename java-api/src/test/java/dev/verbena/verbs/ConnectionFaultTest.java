package dev.verbena.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetSocketAddress;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * rdma_cm over the recording libraries: calls out of turn, calls that fail half-way, too many
 * peers.
 */
@Timeout(120)
class ConnectionFaultTest extends StubbedConnections {
    private void refuseToAccept(String call, StubPair pair, int passes) {
        try (ConnectionIdentifier listener = channel.createIdentifier(PortSpace.TCP)) {
            stub.tellRequest(listener, 0);
            try (ConnectionIdentifier peer = listener.awaitRequest(SECOND_NS).identifier()) {
                stub.failAfter(passes, call, EINVAL);
                assertThatThrownBy(() -> peer.accept(pair.queue, new ConnectionContext()))
                        .isInstanceOf(VerbsException.class)
                        .hasMessageContaining(call + ": EINVAL (22)");
            }
        }
    }

    @Test
    void shouldLeaveNoQueuePairReadyWithoutAPeer() {
        try (StubPair pair = new StubPair(QueuePairType.RC)) {
            refuseToAccept("rdma_init_qp_attr", pair, 1);
            assertThat(pair.queue.state())
                    .as("may be accepted again")
                    .isEqualTo(QueuePairState.INIT);
            refuseToAccept("rdma_init_qp_attr", pair, 2);
            assertThat(pair.queue.state()).isEqualTo(QueuePairState.ERROR);
        }
        try (StubPair pair = new StubPair(QueuePairType.RC)) {
            refuseToAccept("rdma_accept", pair, 0);
            assertThat(pair.queue.state()).isEqualTo(QueuePairState.ERROR);
        }
    }

    @Test
    void shouldPrepareAQueuePairAnewThatWasNotAccepted() {
        try (StubPair pair = new StubPair(QueuePairType.RC);
                ConnectionIdentifier listener = channel.createIdentifier(PortSpace.TCP)) {
            stub.tellRequest(listener, 0);
            try (ConnectionIdentifier peer = listener.awaitRequest(SECOND_NS).identifier()) {
                ConnectionContext context = new ConnectionContext();
                assertThatThrownBy(
                                () ->
                                        peer.accept(
                                                pair.queue,
                                                new ConnectionContext().privateData(new byte[197])))
                        .isInstanceOf(IllegalArgumentException.class)
                        .hasMessageContaining("at most 196");
                assertThat(pair.queue.state()).as("untouched").isEqualTo(QueuePairState.RESET);
                stub.fail("rdma_accept", EINVAL);
                assertThatThrownBy(() -> peer.accept(pair.queue, context))
                        .isInstanceOf(VerbsException.class);
                pair.queue.toReset();
                peer.accept(pair.queue, context);
                assertThat(pair.queue.state()).isEqualTo(QueuePairState.READY_TO_SEND);
            }
        }
    }

    @Test
    void shouldKeepOneForWhomToCloseFailed() {
        ConnectionIdentifier other = channel.createIdentifier(PortSpace.TCP);
        ConnectionIdentifier listener = channel.createIdentifier(PortSpace.TCP);
        stub.tellRequest(listener, 0);
        stub.tell(ConnectionEventType.ADDRESS_CHANGE, 0, other, 0);
        assertThat(other.await(SECOND_NS).type()).isEqualTo(ConnectionEventType.ADDRESS_CHANGE);
        stub.failAfter(1, "rdma_destroy_id", EINVAL);
        listener.close();
        assertThat(listener.isClosed()).isTrue();
        other.close();
        ConnectionEvent request = channel.await(0);
        assertThat(request.listener()).isSameAs(listener);
        assertThat(request.identifier().isClosed()).isFalse();
        request.identifier().close();
        assertThat(channel.await(0)).isNull();
    }

    @Test
    void shouldRefuseWhoComesWhileABacklogWaits() {
        try (ConnectionIdentifier other = channel.createIdentifier(PortSpace.TCP);
                ConnectionIdentifier listener = channel.createIdentifier(PortSpace.TCP)) {
            listener.bind(HERE);
            listener.listen(2);
            int before = stub.openObjects();
            stub.tellRequest(listener, 1);
            stub.tellRequest(listener, 2);
            stub.tellRequest(listener, 3);
            stub.tell(ConnectionEventType.ADDRESS_CHANGE, 0, other, 0);
            assertThat(other.await(SECOND_NS).type()).isEqualTo(ConnectionEventType.ADDRESS_CHANGE);
            assertThat(stub.openObjects()).isEqualTo(before + 2);
            ConnectionEvent first = listener.awaitRequest(SECOND_NS);
            stub.tellRequest(listener, 4);
            assertThat(other.await(0)).as("there is room again").isNull();
            ConnectionEvent second = listener.awaitRequest(SECOND_NS);
            ConnectionEvent fourth = listener.awaitRequest(SECOND_NS);
            assertThat(first.privateData()).hasSize(1);
            assertThat(second.privateData()).hasSize(2);
            assertThat(fourth.privateData()).hasSize(4);
            assertThat(listener.await(0)).isNull();
            first.identifier().close();
            second.identifier().close();
            fourth.identifier().close();
        }
    }

    @Test
    void shouldNotLookForARouteWithoutADevice() {
        try (ConnectionIdentifier identifier = channel.createIdentifier(PortSpace.TCP)) {
            assertHasNoRoute(identifier);
            identifier.bind(new InetSocketAddress("0.0.0.0", 0));
            assertHasNoRoute(identifier);
            identifier.resolveAddress(HERE, SECOND_NS);
            assertHasNoRoute(identifier);
            stub.tell(ConnectionEventType.ADDRESS_ERROR, -ENODEV, identifier, 0);
            assertThat(identifier.await(SECOND_NS).type())
                    .isEqualTo(ConnectionEventType.ADDRESS_ERROR);
            assertHasNoRoute(identifier);
            stub.tell(ConnectionEventType.ADDRESS_RESOLVED, 0, identifier, 0);
            identifier.await(ConnectionEventType.ADDRESS_RESOLVED, SECOND_NS);
            identifier.resolveRoute(SECOND_NS);
            assertThat(stub.call()).isEqualTo("rdma_resolve_route");
        }
    }

    private static void assertHasNoRoute(ConnectionIdentifier identifier) {
        assertThat(identifier.hasDevice()).isFalse();
        assertThatThrownBy(() -> identifier.resolveRoute(SECOND_NS))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("has no device yet; resolve an address");
    }

    @Test
    void shouldTakeAnyTimeLimit() {
        try (ConnectionIdentifier identifier = resolved(PortSpace.TCP)) {
            assertTimeLimit(identifier, Long.MAX_VALUE, Integer.MAX_VALUE);
            assertTimeLimit(identifier, 1, 1);
            assertTimeLimit(identifier, 1_000_001, 2);
            assertTimeLimit(identifier, 0, 0);
            assertTimeLimit(identifier, Long.MIN_VALUE, 0);
        }
    }

    private void assertTimeLimit(ConnectionIdentifier identifier, long ns, long ms) {
        identifier.resolveRoute(ns);
        assertThat(stub.argument(0)).isEqualTo(ms);
        identifier.resolveAddress(HERE, ns);
        assertThat(stub.argument(0)).isEqualTo(ms);
    }

    @Test
    void shouldHaveNoAddressOfWhomItDoesNotKnow() {
        try (ConnectionIdentifier identifier = resolved(PortSpace.UDP)) {
            for (ConnectionEventType type : ConnectionEventType.values()) {
                if (type != ConnectionEventType.OTHER
                        && type != ConnectionEventType.CONNECT_RESPONSE) {
                    stub.tell(type, 0, identifier, 0);
                    ConnectionEvent event = identifier.await(SECOND_NS);
                    assertThat(event.hasAddress())
                            .as(type.name())
                            .isEqualTo(
                                    type == ConnectionEventType.ESTABLISHED
                                            || type == ConnectionEventType.MULTICAST_JOIN);
                }
            }
            stub.tell(ConnectionEventType.UNREACHABLE, -110, identifier, 0);
            assertThatThrownBy(channel.await(SECOND_NS)::group)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("UNREACHABLE (status -110)")
                    .hasMessageContaining("has no address");
        }
    }
}
