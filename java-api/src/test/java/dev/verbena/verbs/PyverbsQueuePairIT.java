package dev.verbena.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Arrays;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Queue pairs and atomics on a real device: counterparts of rdma-core's own tests, named by the
 * tags; docs/pyverbs.md shows them side by side.
 */
@Tag("verbs-device")
@Timeout(180)
class PyverbsQueuePairIT {
    private RdmaDevice device;

    @BeforeEach
    void open() {
        device = RealDevice.open();
    }

    @AfterEach
    void close() {
        if (device != null) {
            device.close();
        }
    }

    /** Makes, moves as far as it can without a peer, asks, closes. */
    private void checkMaking(QueuePairType type, int operations) {
        try (ProtectionDomain domain = device.allocateProtectionDomain();
                CompletionQueue completions = device.createCompletionQueue(64);
                QueuePair queue =
                        domain.createQueuePair(
                                new QueuePairContext()
                                        .type(type)
                                        .completions(completions)
                                        .operations(operations)
                                        .sendCapacity(10)
                                        .receiveCapacity(11)
                                        .segmentsMax(2, 3))) {
            assertThat(queue.type()).isEqualTo(type);
            QueuePairAttributes made = queue.attributes();
            assertThat(made.state()).isEqualTo(QueuePairState.RESET);
            assertThat(made.sendCapacity()).isGreaterThanOrEqualTo(10);
            assertThat(made.receiveCapacity()).isGreaterThanOrEqualTo(11);
            assertThat(made.sendSegmentsMax()).isGreaterThanOrEqualTo(2);
            assertThat(made.receiveSegmentsMax()).isGreaterThanOrEqualTo(3);
            queue.toInit(new PathContext().access(Access.REMOTE_WRITE | Access.LOCAL_WRITE));
            QueuePairAttributes initial = queue.attributes();
            assertThat(initial.state()).isEqualTo(QueuePairState.INIT);
            assertThat(initial.port()).isEqualTo(1);
            assertThat(initial.pkeyIndex()).isZero();
            assertThatThrownBy(() -> queue.toReadyToSend(new PathContext()))
                    .isInstanceOf(VerbsException.class);
            queue.toReset();
            assertThat(queue.state()).isEqualTo(QueuePairState.RESET);
        }
    }

    @Test
    @Tag("pyverbs-test_qp.QPTest.test_create_rc_qp_no_attr")
    @Tag("pyverbs-test_qp.QPTest.test_create_rc_qp_with_attr")
    @Tag("pyverbs-test_qp.QPTest.test_query_rc_qp")
    void shouldMakeAndQueryReliableConnections() {
        checkMaking(QueuePairType.RC, 0);
    }

    @Test
    @Tag("pyverbs-test_qp.QPTest.test_create_rc_qp_ex_no_attr")
    @Tag("pyverbs-test_qp.QPTest.test_create_rc_qp_ex_with_attr")
    void shouldMakeReliableConnectionsWithABuilder() {
        checkMaking(QueuePairType.RC, SendOperations.RELIABLE);
    }

    @Test
    @Tag("pyverbs-test_qp.QPTest.test_create_uc_qp_no_attr")
    @Tag("pyverbs-test_qp.QPTest.test_create_uc_qp_with_attr")
    @Tag("pyverbs-test_qp.QPTest.test_query_uc_qp")
    void shouldMakeAndQueryUnreliableConnections() {
        checkMaking(QueuePairType.UC, 0);
    }

    @Test
    @Tag("pyverbs-test_qp.QPTest.test_create_uc_qp_ex_no_attr")
    @Tag("pyverbs-test_qp.QPTest.test_create_uc_qp_ex_with_attr")
    void shouldMakeUnreliableConnectionsWithABuilder() {
        checkMaking(QueuePairType.UC, SendOperations.UNRELIABLE);
    }

    @Test
    @Tag("pyverbs-test_qp.QPTest.test_create_ud_qp_no_attr")
    @Tag("pyverbs-test_qp.QPTest.test_create_ud_qp_with_attr")
    @Tag("pyverbs-test_qp.QPTest.test_query_ud_qp")
    void shouldMakeAndQueryDatagrams() {
        checkMaking(QueuePairType.UD, 0);
    }

    @Test
    @Tag("pyverbs-test_qp.QPTest.test_create_ud_qp_ex_no_attr")
    @Tag("pyverbs-test_qp.QPTest.test_create_ud_qp_ex_with_attr")
    void shouldMakeDatagramsWithABuilder() {
        checkMaking(QueuePairType.UD, SendOperations.DATAGRAM);
    }

    private void checkRefused(QueuePairContext context) {
        try (ProtectionDomain domain = device.allocateProtectionDomain();
                CompletionQueue completions = device.createCompletionQueue(64)) {
            context.type(QueuePairType.RAW_PACKET).completions(completions);
            assertThatThrownBy(() -> domain.createQueuePair(context))
                    .isInstanceOf(VerbsException.class)
                    .hasMessageContaining("ibv_create_qp");
        }
    }

    @Test
    @Tag("pyverbs-test_qp.QPTest.test_create_raw_qp_ex_with_illegal_caps_max_send_wr")
    void shouldRefuseRawPacketsWithTooManySends() {
        checkRefused(new QueuePairContext().sendCapacity(device.attributes().requestsMax() + 1));
    }

    @Test
    @Tag("pyverbs-test_qp.QPTest.test_create_raw_qp_ex_with_illegal_caps_max_recv_wr")
    void shouldRefuseRawPacketsWithTooManyReceives() {
        checkRefused(new QueuePairContext().receiveCapacity(device.attributes().requestsMax() + 1));
    }

    @Test
    @Tag("pyverbs-test_qp.QPTest.test_create_raw_qp_ex_with_illegal_caps_max_send_sge")
    void shouldRefuseRawPacketsWithTooManySegmentsInASend() {
        checkRefused(new QueuePairContext().segmentsMax(device.attributes().segmentsMax() + 1, 1));
    }

    @Test
    @Tag("pyverbs-test_qp.QPTest.test_create_raw_qp_ex_with_illegal_caps_max_recv_sge")
    void shouldRefuseRawPacketsWithTooManySegmentsInAReceive() {
        checkRefused(new QueuePairContext().segmentsMax(1, device.attributes().segmentsMax() + 1));
    }

    @Test
    @Tag("pyverbs-test_qp.QPTest.test_modify_ud_qp")
    void shouldModifyADatagramQueuePair() {
        try (ProtectionDomain domain = device.allocateProtectionDomain();
                CompletionQueue completions = device.createCompletionQueue(64);
                QueuePair queue =
                        domain.createQueuePair(
                                new QueuePairContext()
                                        .type(QueuePairType.UD)
                                        .completions(completions))) {
            PathContext path = new PathContext().queueKey(0x12345);
            queue.connect(path, null);
            QueuePairAttributes attributes = queue.attributes();
            assertThat(attributes.state()).isEqualTo(QueuePairState.READY_TO_SEND);
            assertThat(attributes.queueKey()).isEqualTo(0x12345);
            queue.toError();
            assertThat(queue.state()).isEqualTo(QueuePairState.ERROR);
        }
    }

    @Test
    void shouldTellWhatAConnectedQueuePairWasGiven() {
        try (RealPair pair = new RealPair(device, QueuePairType.RC)) {
            pair.connect();
            QueuePairAttributes attributes = pair.a.attributes();
            assertThat(attributes.state()).isEqualTo(QueuePairState.READY_TO_SEND);
            assertThat(attributes.peerNumber()).isEqualTo(pair.b.number());
            assertThat(attributes.mtu()).isEqualTo(device.port(1).mtu());
            assertThat(attributes.retries()).isEqualTo(2);
            assertThat(attributes.notReadyRetries()).isEqualTo(2);
            assertThat(attributes.timeoutCode()).isEqualTo(14);
            assertThat(attributes.readsMax()).isEqualTo(4);
        }
    }

    @Test
    @Tag("pyverbs-test_qp.QPTest.test_query_data_in_order")
    void shouldTellWhetherBytesArriveInOrder() {
        try (RealPair pair = new RealPair(device, QueuePairType.RC)) {
            boolean isInOrder = pair.a.isDataInOrder(SendOperations.WRITE);
            assertThat(pair.a.isDataInOrder(SendOperations.WRITE)).isEqualTo(isInOrder);
            assertThatThrownBy(() -> pair.a.isDataInOrder(SendOperations.RELIABLE))
                    .isInstanceOf(IllegalArgumentException.class);
        }
    }

    @Test
    @Tag("pyverbs-test_cq_events.CqEventsTestCase.test_cq_events_rc")
    void shouldAnnounceCompletionsOfAReliableConnection() {
        try (RealPair pair = new RealPair(device, QueuePairType.RC)) {
            pair.connect();
            pair.checkAnnounced();
        }
    }

    @Test
    @Tag("pyverbs-test_cq_events.CqEventsTestCase.test_cq_events_ud")
    void shouldAnnounceCompletionsOfDatagrams() {
        try (RealPair pair = new RealPair(device, QueuePairType.UD)) {
            pair.connect();
            pair.checkAnnounced();
        }
    }

    @Test
    @Tag("pyverbs-test_relaxed_ordering.RoTestCase.test_ro_rc_traffic")
    @Tag("pyverbs-test_relaxed_ordering.RoTestCase.test_ro_ud_traffic")
    void shouldUseMemoryWithRelaxedOrder() {
        for (QueuePairType type : new QueuePairType[] {QueuePairType.RC, QueuePairType.UD}) {
            try (RealPair pair =
                    new RealPair(
                            device,
                            RealPair.context(type),
                            new CompletionQueueContext(),
                            Access.LOCAL_WRITE | Access.RELAXED_ORDERING)) {
                pair.connect();
                if (type == QueuePairType.RC) {
                    pair.checkTraffic(1000);
                } else {
                    pair.checkDatagrams(1000);
                }
            }
        }
    }

    /** An atomic that the peer refuses; every byte there is as before. */
    private void checkAtomicRefused(
            int access, PathContext atPeer, int keyChange, int offset, int... statuses) {
        try (RealPair pair =
                new RealPair(
                        device,
                        RealPair.context(QueuePairType.RC),
                        new CompletionQueueContext(),
                        access)) {
            pair.a.connect(pair.path, pair.address(pair.b));
            pair.b.connect(
                    atPeer == null ? pair.path : pair.restrict(atPeer), pair.address(pair.a));
            pair.bytesB.putLong(0, 40);
            pair.bytesB.putLong(8, 41);
            SendRequestFlyweight add =
                    pair.sends
                            .at(0)
                            .segment(pair.regionA, 0, 8)
                            .fetchAdd(
                                    pair.regionB.remoteAddress(offset),
                                    pair.regionB.remoteKey() + keyChange,
                                    2);
            // Some libraries refuse at once what others leave to the peer.
            int posted = pair.a.post(add.signalled(true));
            if (posted == 1) {
                assertThat(pair.next(pair.completionsA).status()).isIn(boxed(statuses));
            } else {
                assertThat(posted).isEqualTo(Post.REFUSED);
                assertThat(offset).as("only alignment is seen here").isEqualTo(1);
            }
            assertThat(pair.bytesB.getLong(0)).isEqualTo(40);
            assertThat(pair.bytesB.getLong(8)).isEqualTo(41);
        }
    }

    private static Object[] boxed(int[] values) {
        return Arrays.stream(values).boxed().toArray();
    }

    @Test
    @Tag("pyverbs-test_atomic.AtomicTest.test_atomic_invalid_mr_access")
    void shouldRefuseAtomicsOnMemoryThatMayNotHaveThem() {
        int access = Access.LOCAL_WRITE | Access.REMOTE_WRITE | Access.REMOTE_READ;
        checkAtomicRefused(access, null, 0, 0, CompletionStatus.REMOTE_ACCESS);
    }

    @Test
    @Tag("pyverbs-test_atomic.AtomicTest.test_atomic_invalid_qp_access")
    void shouldRefuseAtomicsOverAQueuePairThatMayNotHaveThem() {
        checkAtomicRefused(
                Access.REMOTE_ALL,
                new PathContext().access(Access.LOCAL_WRITE | Access.REMOTE_WRITE),
                0,
                0,
                CompletionStatus.REMOTE_ACCESS,
                CompletionStatus.REMOTE_INVALID);
    }

    @Test
    @Tag("pyverbs-test_atomic.AtomicTest.test_atomic_invalid_rkey")
    void shouldRefuseAtomicsWithAWrongKey() {
        checkAtomicRefused(Access.REMOTE_ALL, null, 0x5500, 0, CompletionStatus.REMOTE_ACCESS);
    }

    @Test
    @Tag("pyverbs-test_atomic.AtomicTest.test_atomic_non_aligned_addr")
    void shouldRefuseAtomicsThatAreNotAligned() {
        checkAtomicRefused(
                Access.REMOTE_ALL,
                null,
                0,
                1,
                CompletionStatus.REMOTE_INVALID,
                CompletionStatus.REMOTE_ACCESS);
    }

    @Test
    @Tag("pyverbs-test_atomic.AtomicTest.test_atomic_invalid_lkey")
    void shouldRefuseMemoryOfAnotherDomainBeforeTheDeviceDoes() {
        try (RealPair pair = new RealPair(device, QueuePairType.RC);
                ProtectionDomain other = device.allocateProtectionDomain();
                MemoryRegion foreign = other.register(pair.memoryB, Access.REMOTE_ALL)) {
            SendRequestFlyweight add = pair.connect().sends.at(0);
            assertThatThrownBy(() -> add.segment(foreign, 0, 8))
                    .isInstanceOf(IllegalArgumentException.class);
            // Nor may the key of a region that is closed be used.
            MemoryRegion closed = pair.domain.register(pair.memoryB, Access.REMOTE_ALL);
            add.segment(closed, 0, 8)
                    .fetchAdd(pair.regionB.remoteAddress(0), pair.regionB.remoteKey(), 1);
            closed.close();
            assertThat(pair.a.post(add)).isEqualTo(Post.REGION_CLOSED);
        }
    }
}
