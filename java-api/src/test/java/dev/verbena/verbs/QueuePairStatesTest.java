package dev.verbena.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.rdma.calls.VerbsLayout;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What the state machine's helpers ask the library for. */
@Timeout(120)
class QueuePairStatesTest {
    private static final Gid PEER = Gid.parse("00000000000000000000ffff0a630002");
    private static final QueuePairAddress ADDRESS = new QueuePairAddress(0x123, 0xabcdef, 7, PEER);
    private static final PathContext PATH =
            new PathContext()
                    .port(2)
                    .gidIndex(3)
                    .mtu(2048)
                    .readsMax(5)
                    .timeoutCode(12)
                    .retries(6)
                    .notReadyRetries(4)
                    .notReadyTimerCode(9)
                    .serviceLevel(3)
                    .trafficClass(106)
                    .hopLimit(9)
                    .flowLabel(0xf00f);

    @Test
    void shouldLeadAReliableConnectionToReadyToSend() {
        try (StubPair pair = new StubPair(QueuePairType.RC)) {
            VerbsStub stub = pair.stub;
            pair.queue.toInit(PATH);
            assertThat(stub.argument(0))
                    .isEqualTo(
                            VerbsLayout.IBV_QP_STATE
                                    | VerbsLayout.IBV_QP_PKEY_INDEX
                                    | VerbsLayout.IBV_QP_PORT
                                    | VerbsLayout.IBV_QP_ACCESS_FLAGS);
            assertThat(stub.byteArgument(VerbsLayout.QP_ATTR_PORT_NUM)).isEqualTo(2);
            assertThat(stub.intArgument(VerbsLayout.QP_ATTR_QP_ACCESS_FLAGS)).isEqualTo(15);
            assertThat(pair.queue.state()).isEqualTo(QueuePairState.INIT);

            pair.queue.toReadyToReceive(PATH, ADDRESS);
            int ah = VerbsLayout.QP_ATTR_AH_ATTR;
            assertThat(stub.intArgument(VerbsLayout.QP_ATTR_DEST_QP_NUM)).isEqualTo(0x123);
            assertThat(stub.intArgument(VerbsLayout.QP_ATTR_RQ_PSN)).isEqualTo(0xabcdef);
            assertThat(stub.intArgument(VerbsLayout.QP_ATTR_PATH_MTU)).isEqualTo(4);
            assertThat(stub.byteArgument(VerbsLayout.QP_ATTR_MAX_DEST_RD_ATOMIC)).isEqualTo(5);
            assertThat(stub.byteArgument(VerbsLayout.QP_ATTR_MIN_RNR_TIMER)).isEqualTo(9);
            assertThat(stub.bytesArgument(ah + VerbsLayout.AH_ATTR_GRH_DGID, 16))
                    .isEqualTo(PEER.bytes());
            assertThat(stub.intArgument(ah + VerbsLayout.AH_ATTR_GRH_FLOW_LABEL)).isEqualTo(0xf00f);
            assertThat(stub.byteArgument(ah + VerbsLayout.AH_ATTR_GRH_SGID_INDEX)).isEqualTo(3);
            assertThat(stub.byteArgument(ah + VerbsLayout.AH_ATTR_GRH_HOP_LIMIT)).isEqualTo(9);
            assertThat(stub.byteArgument(ah + VerbsLayout.AH_ATTR_GRH_TRAFFIC_CLASS))
                    .isEqualTo(106);
            assertThat(stub.shortArgument(ah + VerbsLayout.AH_ATTR_DLID)).isEqualTo(7);
            assertThat(stub.byteArgument(ah + VerbsLayout.AH_ATTR_SL)).isEqualTo(3);
            assertThat(stub.byteArgument(ah + VerbsLayout.AH_ATTR_IS_GLOBAL)).isEqualTo(1);
            assertThat(stub.byteArgument(ah + VerbsLayout.AH_ATTR_PORT_NUM)).isEqualTo(2);

            pair.queue.toReadyToSend(PATH);
            QueuePairAddress own = pair.queue.address(PEER, 0);
            assertThat(stub.intArgument(VerbsLayout.QP_ATTR_SQ_PSN)).isEqualTo(own.packetNumber());
            assertThat(stub.byteArgument(VerbsLayout.QP_ATTR_TIMEOUT)).isEqualTo(12);
            assertThat(stub.byteArgument(VerbsLayout.QP_ATTR_RETRY_CNT)).isEqualTo(6);
            assertThat(stub.byteArgument(VerbsLayout.QP_ATTR_RNR_RETRY)).isEqualTo(4);
            assertThat(stub.byteArgument(VerbsLayout.QP_ATTR_MAX_RD_ATOMIC)).isEqualTo(5);
            assertThat(pair.queue.state()).isEqualTo(QueuePairState.READY_TO_SEND);
            pair.queue.toError();
            assertThat(pair.queue.state()).isEqualTo(QueuePairState.ERROR);
            pair.queue.toReset();
            assertThat(pair.queue.state()).isEqualTo(QueuePairState.RESET);
        }
    }

    @Test
    void shouldAskOthersForLess() {
        try (StubPair pair = new StubPair(QueuePairType.UC)) {
            pair.queue.toInit(PATH);
            pair.queue.toReadyToReceive(PATH, ADDRESS);
            assertThat(pair.stub.argument(0) & VerbsLayout.IBV_QP_MIN_RNR_TIMER).isZero();
            pair.queue.toReadyToSend(PATH);
            assertThat(pair.stub.argument(0))
                    .isEqualTo(VerbsLayout.IBV_QP_STATE | VerbsLayout.IBV_QP_SQ_PSN);
        }
        try (StubPair pair = new StubPair(QueuePairType.UD)) {
            pair.queue.toInit(PATH.queueKey(0x77));
            assertThat(pair.stub.argument(0) & VerbsLayout.IBV_QP_QKEY).isNotZero();
            assertThat(pair.stub.intArgument(VerbsLayout.QP_ATTR_QKEY)).isEqualTo(0x77);
            pair.queue.toReadyToReceive(PATH, null);
            assertThat(pair.stub.argument(0)).isEqualTo(VerbsLayout.IBV_QP_STATE);
        }
    }

    @Test
    void shouldDrainAndResumeSends() {
        try (StubPair pair = new StubPair(QueuePairType.UC)) {
            VerbsStub stub = pair.stub;
            pair.queue.connect(PATH, ADDRESS);
            assertThatThrownBy(pair.queue::resumeSends)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("READY_TO_SEND");
            pair.queue.drainSends(true);
            assertThat(stub.argument(0))
                    .isEqualTo(VerbsLayout.IBV_QP_STATE | VerbsLayout.IBV_QP_EN_SQD_ASYNC_NOTIFY);
            assertThat(stub.byteArgument(VerbsLayout.QP_ATTR_EN_SQD_ASYNC_NOTIFY)).isEqualTo(1);
            assertThat(pair.queue.state()).isEqualTo(QueuePairState.SENDS_DRAINED);
            assertResumes(pair, VerbsLayout.IBV_QPS_SQD);
            pair.queue.drainSends(false);
            assertThat(stub.argument(0)).isEqualTo(VerbsLayout.IBV_QP_STATE);
            assertResumes(pair, VerbsLayout.IBV_QPS_SQD);
            // The device stops an unreliable queue pair by itself.
            int state = VerbsLayout.QP_STATE;
            CallMemory.putInt(pair.queue.address() + state, VerbsLayout.IBV_QPS_SQE);
            assertThat(pair.queue.state()).isEqualTo(QueuePairState.SEND_ERROR);
            assertResumes(pair, VerbsLayout.IBV_QPS_SQE);
        }
    }

    /** With what stopped it, and without packet numbers, which go on. */
    private static void assertResumes(StubPair pair, int from) {
        pair.queue.resumeSends();
        assertThat(pair.stub.argument(0))
                .isEqualTo(VerbsLayout.IBV_QP_STATE | VerbsLayout.IBV_QP_CUR_STATE);
        assertThat(pair.stub.intArgument(VerbsLayout.QP_ATTR_QP_STATE))
                .isEqualTo(VerbsLayout.IBV_QPS_RTS);
        assertThat(pair.stub.intArgument(VerbsLayout.QP_ATTR_CUR_QP_STATE)).isEqualTo(from);
    }

    @Test
    void shouldNameTheStateWhenATransitionIsRefused() {
        try (StubPair pair = new StubPair(QueuePairType.RC)) {
            pair.stub.fail("ibv_modify_qp", 22);
            assertThatThrownBy(() -> pair.queue.toReadyToSend(PATH))
                    .isInstanceOf(VerbsException.class)
                    .hasMessageContaining("ibv_modify_qp: EINVAL (22) for queue pair")
                    .hasMessageContaining("to ready to send from RESET");
            assertThatThrownBy(() -> pair.queue.toReadyToReceive(PATH, null))
                    .isInstanceOf(IllegalArgumentException.class);
        }
    }

    @Test
    void shouldRefusePathsThatNoCardHas() {
        assertThatThrownBy(() -> new PathContext().mtu(1500))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("256, 512");
        assertThatThrownBy(() -> new PathContext().retries(8))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("0 to 7");
        assertThatThrownBy(() -> new PathContext().serviceLevel(16))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void shouldCarryAnAddressAsText() {
        assertThat(QueuePairAddress.parse(ADDRESS.toString())).isEqualTo(ADDRESS);
        QueuePairAddress byLid = new QueuePairAddress(1, 2, 3, null);
        assertThat(QueuePairAddress.parse(byLid.toString())).isEqualTo(byLid);
        for (String text : new String[] {"", "1/2/3", "1000000/0/0/", "x/0/0/", "1/2/3/00"}) {
            assertThatThrownBy(() -> QueuePairAddress.parse(text))
                    .isInstanceOf(IllegalArgumentException.class);
        }
    }

    @Test
    void shouldGiveAConnectionAnotherWay() {
        try (StubPair pair = new StubPair(QueuePairType.RC)) {
            VerbsStub stub = pair.stub;
            pair.queue.connect(PATH, ADDRESS);
            pair.queue.alternatePath(PATH, PEER, 8);
            assertThat(stub.argument(0))
                    .isEqualTo(VerbsLayout.IBV_QP_ALT_PATH | VerbsLayout.IBV_QP_PATH_MIG_STATE);
            int ah = VerbsLayout.QP_ATTR_ALT_AH_ATTR;
            assertThat(stub.bytesArgument(ah + VerbsLayout.AH_ATTR_GRH_DGID, 16))
                    .isEqualTo(PEER.bytes());
            assertThat(stub.shortArgument(ah + VerbsLayout.AH_ATTR_DLID)).isEqualTo(8);
            assertThat(stub.byteArgument(ah + VerbsLayout.AH_ATTR_SL)).isEqualTo(3);
            assertThat(stub.byteArgument(VerbsLayout.QP_ATTR_ALT_PORT_NUM)).isEqualTo(2);
            assertThat(stub.byteArgument(VerbsLayout.QP_ATTR_ALT_TIMEOUT)).isEqualTo(12);
            assertThat(stub.intArgument(VerbsLayout.QP_ATTR_PATH_MIG_STATE))
                    .isEqualTo(VerbsLayout.IBV_MIG_REARM);
            pair.queue.migrate();
            assertThat(stub.argument(0)).isEqualTo(VerbsLayout.IBV_QP_PATH_MIG_STATE);
            assertThat(stub.intArgument(VerbsLayout.QP_ATTR_PATH_MIG_STATE))
                    .isEqualTo(VerbsLayout.IBV_MIG_MIGRATED);
            assertThat(pair.queue.state()).isEqualTo(QueuePairState.READY_TO_SEND);
            stub.fail("ibv_modify_qp", 22);
            assertThatThrownBy(pair.queue::migrate)
                    .isInstanceOf(VerbsException.class)
                    .hasMessageContaining("over to the alternate path");
        }
        try (StubPair pair = new StubPair(QueuePairType.UD)) {
            assertThatThrownBy(() -> pair.queue.alternatePath(PATH, PEER, 8))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("no way to a peer");
        }
    }
}
