package dev.verbena.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.rdma.calls.VerbsLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Receive queues of their own, tables of them and queue pairs that spread, over the recording
 * libibverbs; no device here has them. Layouts are written here as the header has them.
 */
@Timeout(120)
class ReceiveSpreadTest {
    private static final int EINVAL = 22;
    private static final int EOPNOTSUPP = 95;
    private static final int HASH_CONF = 96;

    private final StubPair pair = new StubPair(QueuePairType.RC);
    private final VerbsStub stub = pair.stub;

    @AfterEach
    void close() {
        pair.close();
    }

    private ReceiveQueue queue() {
        return pair.domain.createReceiveQueue(4, 2, pair.completions);
    }

    private static ByteBuffer layout(int length) {
        return ByteBuffer.allocate(length).order(ByteOrder.nativeOrder());
    }

    @Test
    void shouldMakeReceiveQueues() {
        try (ReceiveQueue queue = queue()) {
            ByteBuffer expected = layout(48).putLong(0).putInt(0).putInt(4).putInt(2).putInt(0);
            expected.putLong(pair.domain.address()).putLong(pair.completions.address());
            assertThat(stub.bytesArgument(0, 48)).isEqualTo(expected.array());
            assertThat(queue.capacity()).isEqualTo(4);
            assertThat(queue.segmentsMax()).isEqualTo(2);
            assertThat(queue.toString()).contains("receive queue " + queue.number());
            queue.toReady();
            assertThat(stub.bytesArgument(0, 8)).isEqualTo(layout(8).putInt(1).putInt(1).array());
            queue.toError();
            assertThat(stub.intArgument(4)).isEqualTo(2);
            assertThatThrownBy(pair.completions::close)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining(queue.toString());
            stub.fail("ibv_modify_wq", EINVAL);
            assertThatThrownBy(queue::toReady).isInstanceOf(VerbsException.class);
        }
        assertThat(stub.call()).isEqualTo("ibv_destroy_wq");
        stub.fail("ibv_create_wq", EOPNOTSUPP);
        assertThatThrownBy(this::queue)
                .isInstanceOfSatisfying(
                        VerbsException.class, e -> assertThat(e.isUnsupported()).isTrue());
        assertThatThrownBy(() -> pair.domain.createReceiveQueue(0, 1, pair.completions))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void shouldReceiveAndHoldWhatIsReceivedInto() {
        ReceiveQueue queue = queue();
        ReceiveRequests receives = queue.newReceives(2);
        queue.toReady();
        receives.set(0, 71, pair.region, 0, 100).set(1, 72, pair.region, 100, 50);
        assertThat(queue.post(receives, 0, 2)).isEqualTo(2);
        assertThat(stub.argument(5)).as("the queue").isEqualTo(queue.address());
        assertThat(stub.segmentLength(1, 0)).isEqualTo(50);
        assertThatThrownBy(pair.region::close)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining(queue.toString());
        long first = stub.postedId(0);
        stub.complete(CompletionStatus.SUCCESS, CompletionFlyweight.RECEIVE, first);
        assertThat(pair.completions.poll(4)).isEqualTo(1);
        assertThat(pair.completions.completion(0).id()).isEqualTo(71);
        long second = stub.postedId(1);
        queue.toReset();
        stub.complete(CompletionStatus.SUCCESS, CompletionFlyweight.RECEIVE, second);
        assertThat(pair.completions.poll(4)).as("of before the reset").isZero();
        for (int i = 0; i < queue.capacity(); i++) {
            assertThat(queue.post(receives, 0, 1)).isEqualTo(1);
        }
        assertThat(queue.post(receives, 0, 1)).isEqualTo(Post.BACK_PRESSURED);
        stub.event(VerbsLayout.IBV_EVENT_WQ_FATAL);
        AsyncEvent event = stub.device.awaitEvent(0);
        assertThat(event.typeName()).isEqualTo("WQ_FATAL");
        assertThat(event.object()).isSameAs(queue);
        queue.close();
        assertThat(queue.post(receives, 0, 1)).isEqualTo(Post.CLOSED);
        receives.close();
    }

    @Test
    void shouldRefuseRequestsOfOthers() {
        try (ReceiveQueue queue = queue();
                ProtectionDomain other = stub.device.allocateProtectionDomain();
                ReceiveQueue stranger = other.createReceiveQueue(4, 2, pair.completions);
                ReceiveRequests receives = stranger.newReceives(1)) {
            assertThatThrownBy(() -> queue.post(receives, 0, 1))
                    .isInstanceOf(IllegalArgumentException.class);
        }
    }

    @Tag("pyverbs-test_rss_traffic.RSSTrafficTest.test_rss_traffic")
    @Test
    void shouldSpreadOverATable() {
        byte[] key = new byte[40];
        key[0] = 0x2c;
        key[39] = 0x55;
        int fields = ReceiveHash.FROM_IPV4 | ReceiveHash.TO_UDP | ReceiveHash.INNER;
        try (ReceiveQueue one = queue();
                ReceiveQueue two = queue()) {
            ReceiveTable table = stub.device.createReceiveTable(one, two, two, one);
            assertThat(stub.argument(0)).as("log2 of the size").isEqualTo(2);
            ByteBuffer places = layout(32).putLong(one.address()).putLong(two.address());
            places.putLong(two.address()).putLong(one.address());
            assertThat(stub.bytesArgument(0, 32)).isEqualTo(places.array());
            assertThat(table.size()).isEqualTo(4);
            assertThatThrownBy(one::close)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("table of 4");
            QueuePairContext context =
                    new QueuePairContext()
                            .type(QueuePairType.RAW_PACKET)
                            .spread(table, new ReceiveHash(fields, key));
            try (QueuePair spreading = pair.domain.createQueuePair(context)) {
                assertThat(stub.longArgument(VerbsLayout.QP_INIT_ATTR_EX_SEND_CQ)).isZero();
                assertThat(stub.longArgument(VerbsLayout.QP_INIT_ATTR_EX_RECV_CQ)).isZero();
                assertThat(stub.intArgument(VerbsLayout.QP_INIT_ATTR_EX_COMP_MASK))
                        .isEqualTo(1 | 16 | 32);
                assertThat(stub.longArgument(HASH_CONF - 8)).isEqualTo(table.address());
                assertThat(stub.byteArgument(HASH_CONF)).as("Toeplitz").isEqualTo(1);
                assertThat(stub.byteArgument(HASH_CONF + 1)).isEqualTo(40);
                assertThat(stub.longArgument(HASH_CONF + 16)).isEqualTo(0x8000_0081L);
                assertThat(stub.bytesArgument(VerbsLayout.QP_INIT_ATTR_EX_SIZEOF, 40))
                        .isEqualTo(key);
                assertThatThrownBy(() -> spreading.newSends(1))
                        .isInstanceOf(IllegalStateException.class)
                        .hasMessageContaining("has no sends");
                assertThatThrownBy(() -> spreading.newReceives(1))
                        .isInstanceOf(IllegalStateException.class);
                assertThatThrownBy(table::close)
                        .isInstanceOf(IllegalStateException.class)
                        .hasMessageContaining(spreading.toString());
                spreading.createFlow(new FlowContext().etherType(0x0800).udp(-1, 9)).close();
            }
            table.close();
            assertThat(stub.call()).isEqualTo("ibv_destroy_rwq_ind_table");
        }
    }

    @Test
    void shouldRefuseTablesThatCannotBe() {
        try (ReceiveQueue queue = queue()) {
            assertThatThrownBy(() -> stub.device.createReceiveTable(queue, queue, queue))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("2 to the n");
            assertThatThrownBy(() -> stub.device.createReceiveTable())
                    .isInstanceOf(IllegalArgumentException.class);
            try (RdmaDevice other = RdmaDevices.open(VerbsStub.NOTHING)) {
                assertThatThrownBy(() -> other.createReceiveTable(queue))
                        .isInstanceOf(IllegalArgumentException.class);
            }
            stub.fail("ibv_create_rwq_ind_table", EOPNOTSUPP);
            assertThatThrownBy(() -> stub.device.createReceiveTable(queue))
                    .isInstanceOfSatisfying(
                            VerbsException.class, e -> assertThat(e.isUnsupported()).isTrue());
        }
    }

    @Test
    void shouldRefuseSpreadingThatContradictsItself() {
        ReceiveHash hash = new ReceiveHash(ReceiveHash.FROM_IPV4, new byte[40]);
        try (ReceiveQueue queue = queue();
                ReceiveTable table = stub.device.createReceiveTable(queue)) {
            QueuePairContext[] wrong = {
                new QueuePairContext().type(QueuePairType.RC).spread(table, hash),
                new QueuePairContext().type(QueuePairType.RAW_PACKET).spread(table, null),
                new QueuePairContext()
                        .type(QueuePairType.RAW_PACKET)
                        .spread(table, hash)
                        .completions(pair.completions),
            };
            for (QueuePairContext context : wrong) {
                assertThatThrownBy(() -> pair.domain.createQueuePair(context))
                        .isInstanceOf(IllegalArgumentException.class);
            }
            assertThatThrownBy(() -> new ReceiveHash(0, new byte[40]))
                    .isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> new ReceiveHash(ReceiveHash.TO_TCP))
                    .isInstanceOf(IllegalArgumentException.class);
        }
    }
}
