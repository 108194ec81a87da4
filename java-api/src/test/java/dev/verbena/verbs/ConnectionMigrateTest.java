package dev.verbena.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.rdma.calls.VerbsLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Arrays;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Identifiers that change their channel, what the device says of their queue pairs, and callers who
 * change what they have given or give nothing; over the recording libraries.
 */
@Timeout(120)
class ConnectionMigrateTest {
    private static final long SECOND_NS = 1_000_000_000L;
    private static final int EINVAL = 22;

    private CmStub stub;
    private ConnectionChannel channel;
    private ConnectionChannel other;
    private int objectsBefore;

    @BeforeEach
    void open() {
        stub = CmStub.open();
        channel = stub.channel;
        other = ConnectionChannel.open();
        objectsBefore = stub.openObjects();
    }

    @AfterEach
    void close() {
        assertThat(stub.unacknowledged()).isZero();
        assertThat(stub.openObjects()).as("objects not destroyed").isEqualTo(objectsBefore);
        channel.close();
        other.close();
    }

    private static InetSocketAddress here() throws Exception {
        return new InetSocketAddress(InetAddress.getByAddress(new byte[] {10, 99, 0, 1}), 7471);
    }

    private ConnectionIdentifier bound() throws Exception {
        ConnectionIdentifier identifier = channel.createIdentifier(PortSpace.TCP);
        identifier.bind(here());
        return identifier;
    }

    @Test
    void shouldMoveToAnotherChannelWithWhatHasArrived() throws Exception {
        ConnectionIdentifier before = bound();
        long address = before.address();
        try (ConnectionIdentifier someoneElse = bound()) {
            stub.tell(ConnectionEventType.TIMEWAIT_EXIT, 0, before, 0);
            assertThat(someoneElse.await(0)).as("taken on the way, and kept").isNull();
            try (ConnectionIdentifier after = before.migrate(other)) {
                assertThat(stub.call()).isEqualTo("rdma_migrate_id");
                assertThat(stub.argument(0)).isEqualTo(address);
                assertThat(stub.argument(1)).isEqualTo(other.address());
                assertThat(after.channel()).isSameAs(other);
                assertThat(before.isClosed()).isTrue();
                assertThatThrownBy(() -> before.await(0))
                        .isInstanceOf(IllegalStateException.class)
                        .hasMessageContaining("closed");
                assertThat(channel.await(0)).isNull();
                ConnectionEvent event = other.await(SECOND_NS);
                assertThat(event.type()).isEqualTo(ConnectionEventType.TIMEWAIT_EXIT);
                assertThat(event.identifier()).isSameAs(after);
                stub.tell(ConnectionEventType.ADDRESS_RESOLVED, 0, after, 0);
                assertThat(other.await(SECOND_NS).identifier()).isSameAs(after);
                before.close();
                assertThat(after.localAddress()).isEqualTo(here());
                assertThatThrownBy(() -> after.migrate(other))
                        .isInstanceOf(IllegalArgumentException.class);
            }
        }
    }

    @Test
    void shouldKeepWhatWasBegunOnTheOldChannel() throws Exception {
        try (StubPair pair = new StubPair(QueuePairType.RC)) {
            ConnectionIdentifier before = bound();
            before.connect(pair.queue, new ConnectionContext().timeoutCode(11));
            try (ConnectionIdentifier after = before.migrate(other)) {
                stub.tell(ConnectionEventType.CONNECT_RESPONSE, 0, after, 0);
                after.await(ConnectionEventType.ESTABLISHED, SECOND_NS);
                assertThat(pair.queue.state()).isEqualTo(QueuePairState.READY_TO_SEND);
                assertThat(pair.stub.byteArgument(VerbsLayout.QP_ATTR_TIMEOUT)).isEqualTo(11);
            }
        }
    }

    @Test
    void shouldHearRequestsOnTheNewChannelButNotLeaveAnyBehind() throws Exception {
        ConnectionIdentifier before = bound();
        before.listen(4);
        try (ConnectionIdentifier someoneElse = bound()) {
            stub.tellRequest(before, 0);
            assertThat(someoneElse.await(0)).isNull();
            assertThatThrownBy(() -> before.migrate(other))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("requests wait");
            before.awaitRequest(SECOND_NS).identifier().close();
            try (ConnectionIdentifier after = before.migrate(other)) {
                stub.tellRequest(after, 0);
                ConnectionEvent request = other.await(SECOND_NS);
                assertThat(request.listener()).isSameAs(after);
                assertThat(request.identifier().channel()).isSameAs(other);
                request.identifier().close();
            }
        }
    }

    @Test
    void shouldStayWhereItIsIfTheLibraryRefuses() throws Exception {
        try (ConnectionIdentifier identifier = bound()) {
            stub.fail("rdma_migrate_id", EINVAL);
            assertThatThrownBy(() -> identifier.migrate(other))
                    .isInstanceOf(VerbsException.class)
                    .hasMessageContaining("rdma_migrate_id");
            stub.tell(ConnectionEventType.TIMEWAIT_EXIT, 0, identifier, 0);
            assertThat(channel.await(SECOND_NS).identifier()).isSameAs(identifier);
            ConnectionChannel closed = ConnectionChannel.open();
            closed.close();
            assertThatThrownBy(() -> identifier.migrate(closed))
                    .isInstanceOf(IllegalStateException.class);
        }
    }

    @Test
    void shouldReportWhatTheDeviceSaid() throws Exception {
        AsyncEvent event = new AsyncEvent(AsyncEvent.COMMUNICATION_ESTABLISHED, null, 0);
        try (ConnectionIdentifier identifier = channel.createIdentifier(PortSpace.TCP)) {
            assertThatThrownBy(() -> identifier.report(event))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("no device yet");
            identifier.bind(here());
            identifier.report(event);
            assertThat(stub.call()).isEqualTo("rdma_notify");
            assertThat(stub.argument(0)).isEqualTo(4);
            stub.fail("rdma_notify", EINVAL);
            assertThatThrownBy(() -> identifier.report(event))
                    .isInstanceOf(VerbsException.class)
                    .hasMessageContaining("COMM_EST");
        }
    }

    @Test
    void shouldNotLeadTheLibraryToADeviceThatIsNotThere() {
        try (ConnectionIdentifier identifier = channel.createIdentifier(PortSpace.TCP)) {
            assertThatThrownBy(identifier::disconnect)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("no device yet");
            assertThatThrownBy(() -> identifier.bind(null))
                    .isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> identifier.resolveAddress(null, SECOND_NS))
                    .isInstanceOf(IllegalArgumentException.class);
        }
    }

    /** More would be written over what lies behind the room for it. */
    @Test
    void shouldConnectWithThePrivateDataThatItHasChecked() throws Exception {
        ConnectionContext context = new ConnectionContext().privateData(new byte[3]);
        try (StubPair pair = new StubPair(QueuePairType.RC);
                ConnectionIdentifier identifier = bound()) {
            stub.forgetCalls();
            Thread connecting = new Thread(() -> identifier.connect(pair.queue, context));
            synchronized (channel) {
                connecting.start();
                while (connecting.getState() != Thread.State.BLOCKED) {
                    assertThat(connecting.isAlive()).isTrue();
                    Thread.sleep(1);
                }
                context.privateData(new byte[60]);
            }
            connecting.join(60_000);
            assertThat(connecting.isAlive()).isFalse();
            assertThat(stub.calls()).endsWith("rdma_connect");
            assertThat(stub.byteArgument(VerbsLayout.RDMA_CONN_PARAM_PRIVATE_DATA_LEN))
                    .isEqualTo(3);
            assertThat(stub.data(60)).isEqualTo(Arrays.copyOf(new byte[3], 60));
        }
    }
}
