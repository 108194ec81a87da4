package dev.verbena.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.rdma.calls.VerbsLayout;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Arguments of calls that no device of the tests has, or that devices take in silence. */
@Timeout(120)
class VerbsCallsTest {
    private static final int EINVAL = 22;
    private static final int EOPNOTSUPP = 95;
    private static final int WC = CompletionFlyweight.LENGTH;
    private static final int RECEIVED_AT = 128;

    private final StubPair pair = new StubPair(QueuePairType.UD);
    private final VerbsStub stub = pair.stub;

    @AfterEach
    void close() {
        pair.close();
    }

    @Test
    void shouldResizeACompletionQueue() {
        pair.completions.resize(4711);
        assertThat(stub.call()).isEqualTo("ibv_resize_cq");
        assertThat(stub.argument(0)).isEqualTo(4711);
        assertThat(pair.completions.capacity()).isEqualTo(4711);
        for (int wrong : new int[] {0, -1, Integer.MIN_VALUE}) {
            assertThatThrownBy(() -> pair.completions.resize(wrong))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("holds 1 at least");
        }
        stub.fail("ibv_resize_cq", EINVAL);
        assertThatThrownBy(() -> pair.completions.resize(5)).isInstanceOf(VerbsException.class);
        assertThat(pair.completions.capacity()).isEqualTo(4711);
    }

    @Test
    void shouldModerateACompletionQueue() {
        pair.completions.moderate(65535, 7);
        assertThat(stub.call()).isEqualTo("ibv_modify_cq");
        assertThat(stub.argument(0)).isEqualTo(1); // IBV_CQ_ATTR_MODERATE
        assertThat(stub.argument(1)).isEqualTo(65535);
        assertThat(stub.argument(2)).isEqualTo(7);
        pair.completions.moderate(0, 65535);
        assertThat(stub.argument(2)).isEqualTo(65535);
        assertThatThrownBy(() -> pair.completions.moderate(65536, 0))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> pair.completions.moderate(0, -1))
                .isInstanceOf(IllegalArgumentException.class);
        stub.fail("ibv_modify_cq", EOPNOTSUPP);
        assertThatThrownBy(() -> pair.completions.moderate(1, 1))
                .isInstanceOf(VerbsException.class)
                .hasMessageContaining("ibv_modify_cq");
    }

    @Test
    void shouldReadTheDevicesClock() {
        assertThat(stub.device.rawClockTicks()).isEqualTo(3_000_000_007L);
        assertThat(stub.call()).isEqualTo("ibv_query_rt_values_ex");
        assertThat(stub.argument(0)).isEqualTo(VerbsLayout.IBV_VALUES_MASK_RAW_CLOCK);
        stub.fail("ibv_query_rt_values_ex", EOPNOTSUPP);
        assertThatThrownBy(stub.device::rawClockTicks)
                .isInstanceOfSatisfying(
                        VerbsException.class, e -> assertThat(e.isUnsupported()).isTrue());
    }

    @Test
    void shouldMakeForkSafe() {
        RdmaDevices.initFork();
        assertThat(stub.call()).isEqualTo("ibv_fork_init");
        stub.fail("ibv_fork_init", EINVAL);
        assertThatThrownBy(RdmaDevices::initFork)
                .isInstanceOf(VerbsException.class)
                .hasMessageContaining("before the first registration");
    }

    private CompletionFlyweight received(ReceiveRequests receives, boolean hasRouteHeader) {
        int length = 64;
        receives.set(0, 70, pair.region, RECEIVED_AT, length);
        assertThat(pair.queue.post(receives, 0, 1)).isEqualTo(1);
        stub.completeDatagram(stub.postedId(0), 0x4321, hasRouteHeader);
        assertThat(pair.completions.poll(1)).isEqualTo(1);
        return pair.completions.completion(0);
    }

    @Test
    void shouldMakeTheAddressOfWhoSentADatagram() {
        try (ReceiveRequests receives = pair.queue.newReceives(1)) {
            CompletionFlyweight datagram = received(receives, true);
            for (int i = 0; i < 40; i++) {
                pair.memory.buffer(0, 1 << 16).putByte(RECEIVED_AT + i, (byte) (i + 1));
            }
            pair.domain
                    .createAddressHandle(datagram, pair.memory.buffer(0, 1 << 16), RECEIVED_AT, 2)
                    .close();
            assertThat(stub.argument(0)).isEqualTo(1);
            assertThat(stub.argument(1)).isEqualTo(2);
            assertThat(stub.intArgument(VerbsLayout.WC_SRC_QP)).isEqualTo(0x4321);
            assertThat(stub.byteArgument(WC)).isEqualTo(1);
            assertThat(stub.byteArgument(WC + 39)).isEqualTo(40);
            assertThatThrownBy(
                            () ->
                                    pair.domain.createAddressHandle(
                                            datagram, pair.memory.buffer(0, 64), 25, 1))
                    .isInstanceOf(IndexOutOfBoundsException.class);
            assertThatThrownBy(() -> pair.domain.createAddressHandle(datagram, null, 0, 1))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("route header");
            assertThatThrownBy(
                            () ->
                                    pair.domain.createAddressHandle(
                                            datagram, pair.memory.buffer(0, 64), 0, 0))
                    .hasMessageContaining("counted from 1");
            stub.fail("ibv_create_ah_from_wc", EINVAL);
            assertThatThrownBy(
                            () ->
                                    pair.domain.createAddressHandle(
                                            datagram, pair.memory.buffer(0, 64), 0, 1))
                    .hasMessageContaining("ibv_create_ah_from_wc");
        }
    }

    @Test
    void shouldMakeTheAddressOfALidWithoutARouteHeader() {
        try (ReceiveRequests receives = pair.queue.newReceives(1)) {
            CompletionFlyweight datagram = received(receives, false);
            pair.domain.createAddressHandle(datagram, null, 0, 1).close();
            assertThat(stub.argument(0)).isZero();
        }
    }

    @Test
    void shouldRefuseTheSenderOfWhatWasNotReceived() {
        try (SendRequests sends = pair.queue.newSends(1);
                AddressHandle to = pair.domain.createAddressHandle(new PathContext(), null, 1)) {
            sends.at(0).segments(0).signalled(true).to(to, 1, 2);
            assertThat(pair.queue.post(sends.at(0))).isEqualTo(1);
            stub.complete(CompletionStatus.SUCCESS, CompletionFlyweight.SEND, stub.postedId(0));
            assertThat(pair.completions.poll(1)).isEqualTo(1);
            CompletionFlyweight sent = pair.completions.completion(0);
            assertThatThrownBy(() -> pair.domain.createAddressHandle(sent, null, 0, 1))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("has a sender");
        }
    }
}
