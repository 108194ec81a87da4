package dev.verbena.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.rdma.calls.VerbsLayout;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Extended reliable connections over the recording libibverbs; no device here has them. */
@Timeout(120)
class XrcTest {
    private static final int EOPNOTSUPP = 95;

    private final StubPair pair = new StubPair(QueuePairType.RC);
    private final VerbsStub stub = pair.stub;

    @AfterEach
    void close() {
        pair.close();
    }

    @Test
    void shouldOpenDomainsOfAProcessAndOfAFile() {
        XrcDomain own = stub.device.openXrcDomain();
        assertThat(stub.argument(0)).isEqualTo(3);
        assertThat((int) stub.argument(1)).isEqualTo(-1);
        assertThat(stub.argument(2)).isEqualTo(64);
        stub.device.openXrcDomain(33).close();
        assertThat(stub.argument(1)).isEqualTo(33);
        assertThat(stub.call()).isEqualTo("ibv_close_xrcd");
        own.close();
        stub.fail("ibv_open_xrcd", EOPNOTSUPP);
        assertThatThrownBy(stub.device::openXrcDomain)
                .isInstanceOfSatisfying(
                        VerbsException.class, e -> assertThat(e.isUnsupported()).isTrue());
    }

    @Test
    void shouldReceiveThroughASharedQueueWithCompletionsOfItsOwn() {
        try (XrcDomain xrc = stub.device.openXrcDomain();
                SharedReceiveQueue shared =
                        pair.domain.createSharedReceiveQueue(
                                new SharedReceiveContext()
                                        .capacity(4)
                                        .segmentsMax(2)
                                        .xrc(xrc, pair.completions));
                ReceiveRequests receives = shared.newReceives(1)) {
            assertThat(stub.call()).isEqualTo("ibv_create_srq_ex");
            assertThat(stub.intArgument(VerbsLayout.SRQ_INIT_ATTR_EX_ATTR_MAX_WR)).isEqualTo(4);
            assertThat(stub.intArgument(VerbsLayout.SRQ_INIT_ATTR_EX_SRQ_TYPE))
                    .isEqualTo(VerbsLayout.IBV_SRQT_XRC);
            assertThat(stub.intArgument(VerbsLayout.SRQ_INIT_ATTR_EX_COMP_MASK)).isEqualTo(15);
            assertThat(stub.longArgument(VerbsLayout.SRQ_INIT_ATTR_EX_XRCD))
                    .isEqualTo(xrc.address());
            assertThat(stub.longArgument(VerbsLayout.SRQ_INIT_ATTR_EX_CQ))
                    .isEqualTo(pair.completions.address());
            assertThat(stub.longArgument(VerbsLayout.SRQ_INIT_ATTR_EX_PD))
                    .isEqualTo(pair.domain.address());
            assertThat(shared.number()).isEqualTo(4242);
            assertThat(shared.post(receives.set(0, 9, pair.region, 0, 64), 0, 1)).isEqualTo(1);
            assertThatThrownBy(xrc::close)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("shared receive queue");
            assertThatThrownBy(pair.region::close).isInstanceOf(IllegalStateException.class);
            stub.complete(CompletionStatus.SUCCESS, CompletionFlyweight.RECEIVE, stub.postedId(0));
            assertThat(pair.completions.poll(4)).isEqualTo(1);
            assertThat(pair.completions.completion(0).id()).isEqualTo(9);
            QueuePairContext wrong =
                    new QueuePairContext().completions(pair.completions).sharedReceives(shared);
            assertThatThrownBy(() -> pair.domain.createQueuePair(wrong))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("XRC");
        }
        SharedReceiveContext half = new SharedReceiveContext().xrc(null, pair.completions);
        assertThatThrownBy(() -> pair.domain.createSharedReceiveQueue(half))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    @Tag("pyverbs-test_qpex.QpExTestCase.test_qp_ex_xrc_send")
    void shouldSendToASharedQueueOfThePeer() {
        QueuePairContext context =
                new QueuePairContext()
                        .type(QueuePairType.XRC_SEND)
                        .completions(pair.completions, null)
                        .inlineMax(8);
        try (QueuePair sender = pair.domain.createQueuePair(context);
                SendRequests sends = sender.newSends(1)) {
            assertThat(stub.longArgument(VerbsLayout.QP_INIT_ATTR_RECV_CQ)).isZero();
            assertThat(stub.intArgument(VerbsLayout.QP_INIT_ATTR_QP_TYPE))
                    .isEqualTo(VerbsLayout.IBV_QPT_XRC_SEND);
            sender.toInit(new PathContext());
            sender.toReadyToReceive(new PathContext(), pair.queue.address(null, 1));
            assertThat(stub.argument(0) & VerbsLayout.IBV_QP_MIN_RNR_TIMER).isZero();
            sender.toReadyToSend(new PathContext());
            assertThat(stub.argument(0) & VerbsLayout.IBV_QP_RETRY_CNT).isNotZero();
            SendRequestFlyweight send = sends.at(0).id(3).segment(pair.region, 0, 8);
            assertThat(sender.post(send.send().toShared(4242).signalled(true))).isEqualTo(1);
            assertThat(stub.requestInt(0, VerbsLayout.SEND_WR_QP_TYPE_XRC_REMOTE_SRQN))
                    .isEqualTo(4242);
            stub.complete(CompletionStatus.SUCCESS, 0, stub.postedId(0));
            assertThat(pair.completions.poll(4)).isEqualTo(1);
            assertThat(pair.completions.completion(0).id()).isEqualTo(3);
            assertThatThrownBy(() -> sender.newReceives(1))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("XRC_SEND, has no receives");
            try (ReceiveRequests others = pair.queue.newReceives(1)) {
                assertThatThrownBy(() -> sender.post(others, 0, 1))
                        .isInstanceOf(IllegalStateException.class);
            }
            sender.toReset();
        }
    }

    @Test
    void shouldMakeAReceivingEndOfAnXrcDomain() {
        QueuePairContext context = new QueuePairContext().type(QueuePairType.XRC_RECEIVE);
        assertThatThrownBy(() -> pair.domain.createQueuePair(context))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("XRC domain");
        XrcDomain xrc = stub.device.openXrcDomain();
        QueuePair receiver = pair.domain.createQueuePair(context.xrcDomain(xrc));
        assertThat(stub.intArgument(VerbsLayout.QP_INIT_ATTR_EX_COMP_MASK))
                .isEqualTo(VerbsLayout.IBV_QP_INIT_ATTR_XRCD);
        assertThat(stub.longArgument(VerbsLayout.QP_INIT_ATTR_EX_XRCD)).isEqualTo(xrc.address());
        assertThat(stub.longArgument(VerbsLayout.QP_INIT_ATTR_EX_PD)).isZero();
        assertThat(stub.longArgument(VerbsLayout.QP_INIT_ATTR_EX_SEND_CQ)).isZero();
        receiver.toInit(new PathContext());
        receiver.toReadyToReceive(new PathContext(), pair.queue.address(null, 1));
        assertThat(stub.argument(0) & VerbsLayout.IBV_QP_MIN_RNR_TIMER).isNotZero();
        receiver.toReadyToSend(new PathContext());
        assertThat(stub.argument(0) & VerbsLayout.IBV_QP_TIMEOUT).isNotZero();
        assertThat(stub.argument(0) & VerbsLayout.IBV_QP_RETRY_CNT).isZero();
        assertThatThrownBy(() -> receiver.newSends(1))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("has no sends");
        assertThatThrownBy(() -> receiver.newBuilder(1)).isInstanceOf(IllegalStateException.class);
        try (SendRequests others = pair.queue.newSends(1)) {
            assertThatThrownBy(() -> receiver.post(others.at(0)))
                    .isInstanceOf(IllegalStateException.class);
            assertThatThrownBy(() -> receiver.post(others, 0, 1))
                    .isInstanceOf(IllegalStateException.class);
        }
        assertThatThrownBy(xrc::close)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("queue pair");
        receiver.toReset();
        receiver.close();
        xrc.close();
    }
}
