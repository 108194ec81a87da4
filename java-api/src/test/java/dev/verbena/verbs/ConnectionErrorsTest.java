package dev.verbena.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What rdma_cm refuses, what comes too late, and what is used after its end. */
@Timeout(120)
class ConnectionErrorsTest extends StubbedConnections {
    private static final int EADDRINUSE = 98;

    @Test
    void shouldTellAConnectionThatCannotBeCompleted() throws Exception {
        try (StubPair pair = new StubPair(QueuePairType.RC);
                ConnectionIdentifier identifier = resolved(PortSpace.TCP)) {
            identifier.connect(pair.queue, new ConnectionContext());
            stub.tell(ConnectionEventType.CONNECT_RESPONSE, 0, identifier, 0);
            pair.stub.fail("ibv_modify_qp", EINVAL);
            ConnectionEvent event = channel.await(SECOND_NS);
            assertThat(event.type()).isEqualTo(ConnectionEventType.CONNECT_ERROR);
            assertThat(event.status()).isEqualTo(-EINVAL);
            assertThat(stub.call()).isEqualTo("rdma_reject");
        }
    }

    @Test
    void shouldTellAConnectionWhoseQueuePairWasClosed() throws Exception {
        try (StubPair pair = new StubPair(QueuePairType.RC);
                ConnectionIdentifier identifier = resolved(PortSpace.TCP)) {
            identifier.connect(pair.queue, new ConnectionContext());
            pair.queue.close();
            stub.tell(ConnectionEventType.CONNECT_RESPONSE, 0, identifier, 0);
            assertThat(channel.await(SECOND_NS).type())
                    .isEqualTo(ConnectionEventType.CONNECT_ERROR);
            identifier.disconnect();
        }
    }

    @Test
    void shouldSayThatNothingCameInTime() {
        try (ConnectionIdentifier identifier = channel.createIdentifier(PortSpace.TCP)) {
            assertThat(identifier.await(0)).isNull();
            assertThat(channel.await(1_000_000L)).isNull();
            assertThatThrownBy(() -> identifier.await(ConnectionEventType.ESTABLISHED, 2_000_000L))
                    .isInstanceOf(VerbsException.class)
                    .hasMessageContaining("ETIMEDOUT (110)")
                    .hasMessageContaining("nothing came in 2 ms");
        }
    }

    @Test
    void shouldNeverWaitForAnAcknowledgementWhenItCloses() {
        ConnectionIdentifier identifier = channel.createIdentifier(PortSpace.TCP);
        stub.tell(ConnectionEventType.ADDRESS_CHANGE, 0, identifier, 0);
        ConnectionEvent event = channel.await(SECOND_NS);
        identifier.close();
        identifier.close();
        assertThat(event.type()).isEqualTo(ConnectionEventType.ADDRESS_CHANGE);
        assertThat(event.identifier().isClosed()).isTrue();
    }

    @Test
    void shouldAnswerUseAfterCloseByAnException() throws Exception {
        ConnectionIdentifier identifier = channel.createIdentifier(PortSpace.TCP);
        identifier.close();
        assertThatThrownBy(() -> identifier.listen(1))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("closed: connection identifier");
        assertThatThrownBy(() -> identifier.await(0)).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(identifier::peerAddress).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> identifier.reject(new byte[0]))
                .isInstanceOf(IllegalStateException.class);
        CmStub other = CmStub.open();
        other.channel.close();
        assertThatThrownBy(() -> other.channel.createIdentifier(PortSpace.TCP))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("closed: connection channel");
        assertThatThrownBy(() -> other.channel.await(0)).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void shouldEndAWaitWhenAnotherThreadClosesTheIdentifier() throws Exception {
        ConnectionIdentifier identifier = channel.createIdentifier(PortSpace.TCP);
        AtomicReference<Throwable> thrown = new AtomicReference<>();
        CountDownLatch begun = new CountDownLatch(1);
        Thread waiter =
                new Thread(
                        () -> {
                            begun.countDown();
                            try {
                                identifier.await(100 * SECOND_NS);
                            } catch (IllegalStateException e) {
                                thrown.set(e);
                            }
                        });
        waiter.start();
        assertThat(begun.await(50, TimeUnit.SECONDS)).isTrue();
        identifier.close();
        waiter.join(50_000);
        assertThat(waiter.isAlive()).isFalse();
        assertThat(thrown.get()).hasMessageContaining("closed: connection identifier");
    }

    @Test
    void shouldNameTheCallThatFailed() throws Exception {
        stub.fail("rdma_create_event_channel", ENODEV);
        assertThatThrownBy(ConnectionChannel::open)
                .isInstanceOf(VerbsException.class)
                .hasMessageContaining("rdma_create_event_channel: ENODEV (19)")
                .hasMessageContaining("rdma_ucm");
        stub.fail("rdma_create_id", ENODEV);
        assertThatThrownBy(() -> channel.createIdentifier(PortSpace.UDP))
                .hasMessageContaining("rdma_create_id: ENODEV (19)");
        InetSocketAddress here = address(7471, 10, 99, 0, 1);
        try (StubPair pair = new StubPair(QueuePairType.RC);
                ConnectionIdentifier identifier = channel.createIdentifier(PortSpace.TCP)) {
            ConnectionContext context = new ConnectionContext();
            assertFails("rdma_bind_addr", EADDRINUSE, () -> identifier.bind(here), "port free");
            assertFails("rdma_listen", EINVAL, () -> identifier.listen(1), "bound first");
            assertFails(
                    "rdma_resolve_addr",
                    ENODEV,
                    () -> identifier.resolveAddress(here, SECOND_NS),
                    "10.99.0.1:7471");
            identifier.bind(here);
            assertFails(
                    "rdma_resolve_route",
                    EINVAL,
                    () -> identifier.resolveRoute(SECOND_NS),
                    "address is resolved first");
            assertFails(
                    "rdma_init_qp_attr",
                    EINVAL,
                    () -> identifier.prepare(pair.queue, context),
                    "resolved or requested");
            assertFails(
                    "rdma_connect", EINVAL, () -> identifier.connect(pair.queue, context), "route");
            assertFails(
                    "rdma_accept",
                    EINVAL,
                    () -> identifier.accept(pair.queue, context),
                    "CONNECT_REQUEST");
            assertFails("rdma_reject", EINVAL, () -> identifier.reject(new byte[0]), "once");
            assertFails("rdma_disconnect", EINVAL, identifier::disconnect, "is it connected?");
            InetAddress group = InetAddress.getByName("239.1.2.3");
            assertFails(
                    "rdma_join_multicast",
                    EINVAL,
                    () -> identifier.joinMulticast(group, false),
                    "datagrams only");
            assertFails(
                    "rdma_leave_multicast",
                    EINVAL,
                    () -> identifier.leaveMulticast(group),
                    "member");
            assertFails("rdma_destroy_id", EINVAL, identifier::close, "");
            assertThat(identifier.isClosed()).isFalse();
            assertThatThrownBy(
                            () -> identifier.connect(pair.queue, context.privateData(new byte[57])))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("at most 56");
        }
    }

    private void assertFails(String call, int errno, Runnable action, String remedy) {
        stub.fail(call, errno);
        assertThatThrownBy(action::run)
                .isInstanceOf(VerbsException.class)
                .hasMessageContaining(call + ": ")
                .hasMessageContaining("(" + errno + ") for connection identifier")
                .hasMessageContaining(remedy);
    }

    @Test
    void shouldRefuseAQueuePairOfAnotherKindOrDevice() throws Exception {
        try (StubPair datagrams = new StubPair(QueuePairType.UD);
                RdmaDevice other = RdmaDevices.open(VerbsStub.NOTHING);
                ProtectionDomain domain = other.allocateProtectionDomain();
                CompletionQueue completions = other.createCompletionQueue(1);
                QueuePair elsewhere =
                        domain.createQueuePair(new QueuePairContext().completions(completions));
                ConnectionIdentifier identifier = resolved(PortSpace.TCP)) {
            assertThatThrownBy(() -> identifier.connect(datagrams.queue, new ConnectionContext()))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("of kind UD is not for");
            assertThatThrownBy(() -> identifier.prepare(elsewhere, new ConnectionContext()))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("nothing0");
        }
    }
}
