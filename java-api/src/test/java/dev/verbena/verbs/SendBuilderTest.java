package dev.verbena.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.AllocationMeter;
import dev.verbena.rdma.calls.VerbsLayout;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.atomic.AtomicReference;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The builder of sends over the recording libibverbs: which calls, in which order, with what. */
@Timeout(120)
class SendBuilderTest {
    private static final int EOPNOTSUPP = 95;
    private static final int ENOMEM = 12;
    private static final int ALL =
            SendOperations.RELIABLE
                    | SendOperations.SEND_INVALIDATE
                    | SendOperations.LOCAL_INVALIDATE
                    | SendOperations.BIND_WINDOW;

    private final StubPair pair = new StubPair(QueuePairType.RC);
    private final VerbsStub stub = pair.stub;
    private final QueuePair queue = queuePair(QueuePairType.RC, ALL);
    private final SendBuilder builder = queue.newBuilder(3);

    private QueuePair queuePair(QueuePairType type, int operations) {
        return pair.domain.createQueuePair(
                new QueuePairContext()
                        .type(type)
                        .completions(pair.completions)
                        .sendCapacity(4)
                        .segmentsMax(3, 1)
                        .inlineMax(32)
                        .operations(operations));
    }

    @AfterEach
    void close() {
        builder.close();
        queue.close();
        pair.close();
    }

    private void completed(int count) {
        for (int i = 0; i < count; i++) {
            stub.complete(CompletionStatus.SUCCESS, 0, stub.postedId(i));
            assertThat(pair.completions.poll(1)).isEqualTo(1);
        }
    }

    private String built(SendRequestFlyweight request) {
        request.signalled(true);
        assertThat(builder.complete()).isEqualTo(1);
        completed(1);
        return stub.builderCalls();
    }

    private SendRequestFlyweight next() {
        return builder.start().request();
    }

    @Test
    void shouldAskForWhatTheBuilderMayBuild() {
        try (QueuePair other = queuePair(QueuePairType.RC, SendOperations.SEND)) {
            assertThat(stub.longArgument(VerbsLayout.QP_INIT_ATTR_EX_SEND_OPS_FLAGS))
                    .isEqualTo(SendOperations.SEND);
            assertThat(stub.intArgument(VerbsLayout.QP_INIT_ATTR_EX_COMP_MASK))
                    .isEqualTo(
                            VerbsLayout.IBV_QP_INIT_ATTR_PD
                                    | VerbsLayout.IBV_QP_INIT_ATTR_SEND_OPS_FLAGS);
            try (SendBuilder one = other.newBuilder(1)) {
                one.start().request().write(1, 2);
                assertThat(one.complete()).isEqualTo(Post.REFUSED);
                assertThat(other.refusal()).isEqualTo(EOPNOTSUPP);
                assertThat(stub.builderCalls()).isEqualTo("start abort");
                assertThat(other.sendRoom()).isEqualTo(4);
                one.abort();
                one.start().request().send();
                assertThat(one.complete()).isEqualTo(1);
            }
        }
        assertThatThrownBy(() -> pair.queue.newBuilder(1))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("without QueuePairContext.operations");
        assertThatThrownBy(() -> new QueuePairContext().operations(1 << 20))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> queue.newBuilder(0)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void shouldBuildEveryOperation() {
        assertThat(built(next().send())).isEqualTo("start send sge_list complete");
        assertThat(built(next().segment(pair.region, 16, 100).sendImmediate(0x01020304)))
                .isEqualTo("start send_imm sge complete");
        assertThat(stub.requestInt(0, VerbsLayout.SEND_WR_IMM_DATA)).isEqualTo(0x04030201);
        assertThat(stub.segmentAddress(0, 0)).isEqualTo(pair.region.remoteAddress(16));
        assertThat(stub.segmentLength(0, 0)).isEqualTo(100);
        assertThat(stub.segmentKey(0, 0)).isEqualTo(pair.region.localKey());
        assertThat(built(next().sendInvalidate(0xfeed)))
                .isEqualTo("start send_inv sge_list complete");
        assertThat(stub.requestInt(0, VerbsLayout.SEND_WR_INVALIDATE_RKEY)).isEqualTo(0xfeed);
        SendRequestFlyweight two = next().segment(0, pair.region, 0, 8);
        two.segment(1, pair.region, 8, 9).segments(2).write(77, 5).fenced(true).solicited(true);
        assertThat(built(two)).isEqualTo("start write sge_list complete");
        assertThat(stub.requestLong(0, VerbsLayout.SEND_WR_WR_RDMA_REMOTE_ADDR)).isEqualTo(77);
        assertThat(stub.requestInt(0, VerbsLayout.SEND_WR_WR_RDMA_RKEY)).isEqualTo(5);
        assertThat(stub.requestInt(0, VerbsLayout.SEND_WR_NUM_SGE)).isEqualTo(2);
        assertThat(stub.segmentLength(0, 1)).isEqualTo(9);
        assertThat(stub.requestInt(0, VerbsLayout.SEND_WR_SEND_FLAGS)).isEqualTo(7);
        assertThat(built(next().writeImmediate(78, 6, 9)))
                .isEqualTo("start write_imm sge_list complete");
        assertThat(built(next().read(79, 7))).isEqualTo("start read sge_list complete");
        assertThat(built(next().compareSwap(80, 8, 1, 2)))
                .isEqualTo("start cmp_swp sge_list complete");
        assertThat(stub.requestLong(0, VerbsLayout.SEND_WR_WR_ATOMIC_REMOTE_ADDR)).isEqualTo(80);
        assertThat(stub.requestLong(0, VerbsLayout.SEND_WR_WR_ATOMIC_COMPARE_ADD)).isEqualTo(1);
        assertThat(stub.requestLong(0, VerbsLayout.SEND_WR_WR_ATOMIC_SWAP)).isEqualTo(2);
        assertThat(stub.requestInt(0, VerbsLayout.SEND_WR_WR_ATOMIC_RKEY)).isEqualTo(8);
        assertThat(built(next().fetchAdd(81, 9, 3))).isEqualTo("start fetch_add sge_list complete");
        assertThat(stub.requestLong(0, VerbsLayout.SEND_WR_WR_ATOMIC_COMPARE_ADD)).isEqualTo(3);
        assertThat(built(next().localInvalidate(0xbeef))).isEqualTo("start local_inv complete");
    }

    @Test
    void shouldBindAWindow() {
        try (MemoryRegion region =
                        pair.domain.register(pair.memory, Access.REMOTE_ALL | Access.WINDOW_BIND);
                MemoryWindow window = pair.domain.allocateMemoryWindow(MemoryWindowType.TYPE_2)) {
            int key = window.nextKey();
            next().bindWindow(window, key, region, 8, 16, Access.REMOTE_READ).signalled(true);
            stub.fail("ibv_wr_complete", ENOMEM);
            assertThat(builder.complete()).isEqualTo(Post.BACK_PRESSURED);
            assertThat(window.remoteKey()).isNotEqualTo(key);
            assertThat(window.bound()).isNull();
            assertThat(builder.complete()).isEqualTo(1);
            assertThat(stub.builderCalls()).isEqualTo("start bind_mw complete");
            assertThat(window.remoteKey()).isEqualTo(key);
            assertThat(stub.requestLong(0, VerbsLayout.SEND_WR_BIND_MW_MW))
                    .isEqualTo(window.address());
            completed(1);
            window.close();
        }
    }

    @Test
    void shouldSendBytesThatAreNotRegistered() {
        UnsafeBuffer bytes = new UnsafeBuffer("0123456789".getBytes(StandardCharsets.US_ASCII));
        next().id(3).signalled(true);
        builder.inlineBytes(bytes, 2, 5);
        bytes.putByte(2, (byte) 'x'); // copied before
        assertThat(builder.complete()).isEqualTo(1);
        assertThat(stub.builderCalls()).isEqualTo("start send inline complete");
        assertThat(stub.bytesArgument(0, 5)).asString().isEqualTo("23456");
        assertThat(stub.requestInt(0, VerbsLayout.SEND_WR_SEND_FLAGS))
                .isEqualTo(VerbsLayout.IBV_SEND_SIGNALED | VerbsLayout.IBV_SEND_INLINE);
        completed(1);
        SendRequestFlyweight request = next().signalled(true);
        assertThatThrownBy(() -> builder.inlineBytes(bytes, 6, 5))
                .isInstanceOf(IndexOutOfBoundsException.class);
        UnsafeBuffer long40 = new UnsafeBuffer(new byte[40]);
        assertThatThrownBy(() -> builder.inlineBytes(long40, 0, 33))
                .isInstanceOf(IndexOutOfBoundsException.class)
                .hasMessageContaining("32 inline");
        builder.inlineBytes(bytes, 0, 3);
        request.inline(false); // its own bytes have no key, so they go with the flag
        assertThat(built(request)).isEqualTo("start send sge_list complete");
        assertThat(stub.requestInt(0, VerbsLayout.SEND_WR_NUM_SGE)).isZero();
        request = next();
        builder.inlineBytes(bytes, 0, 3);
        request.segment(0, pair.region, 0, 8).segments(1);
        assertThat(built(request)).isEqualTo("start send inline complete");
        assertThat(request.length()).isEqualTo(8);
    }

    @Test
    void shouldNotTakeItsOwnBytesForARegion() {
        SendRequestFlyweight request = next().segment(pair.region, 0, 8);
        builder.inlineBytes(new UnsafeBuffer(new byte[4]), 0, 3);
        assertThatThrownBy(() -> request.segments(1))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("segment 0 of 1 was not set");
        builder.abort();
    }

    @Test
    void shouldPostAllOrNothing() {
        for (int i = 0; i < 3; i++) {
            (i == 0 ? builder.start() : builder).request().id(i).signalled(true);
        }
        assertThat(builder.size()).isEqualTo(3);
        assertThatThrownBy(builder::request)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("at most 3");
        assertThat(builder.complete()).isEqualTo(3);
        next().id(7).signalled(true);
        builder.request().id(8).signalled(true);
        assertThat(builder.complete()).isEqualTo(Post.BACK_PRESSURED);
        assertThat(queue.sendRoom()).isEqualTo(1);
        completed(3);
        MemoryRegion closed = pair.domain.register(pair.memory, Access.LOCAL_WRITE);
        builder.request().segment(closed, 0, 8);
        closed.close();
        assertThat(builder.complete()).isEqualTo(Post.REGION_CLOSED);
        assertThat(queue.sendRoom()).isEqualTo(4);
        builder.abort();
        assertThat(builder.size()).isZero();
        next().id(9).signalled(true);
        assertThat(builder.complete()).isEqualTo(1);
        completed(1);
        assertThat(pair.completions.completion(0).id()).isEqualTo(9);
    }

    @Test
    void shouldKeepOrderOfStartRequestComplete() {
        assertThatThrownBy(builder::request).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(builder::complete).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(builder::abort).isInstanceOf(IllegalStateException.class);
        builder.start();
        assertThatThrownBy(builder::start).isInstanceOf(IllegalStateException.class);
        UnsafeBuffer bytes = new UnsafeBuffer(new byte[8]);
        assertThatThrownBy(() -> builder.inlineBytes(bytes, 0, 1))
                .isInstanceOf(IllegalStateException.class);
        assertThat(builder.complete()).isZero();
    }

    @Test
    void shouldSendDatagrams() {
        try (QueuePair datagrams = queuePair(QueuePairType.UD, SendOperations.DATAGRAM);
                SendBuilder some = datagrams.newBuilder(1)) {
            Gid gid = Gid.parse("00000000000000000000ffff0a630002");
            AddressHandle peer = pair.domain.createAddressHandle(new PathContext(), gid, 0);
            SendRequestFlyweight request = some.start().request().signalled(true);
            assertThat(some.complete()).isEqualTo(Post.REGION_CLOSED);
            request.to(peer, 17, 0x77);
            assertThat(some.complete()).isEqualTo(1);
            assertThat(stub.builderCalls()).isEqualTo("start send ud_addr sge_list complete");
            assertThat(stub.requestLong(0, VerbsLayout.SEND_WR_WR_UD_AH)).isEqualTo(peer.address());
            assertThat(stub.requestInt(0, VerbsLayout.SEND_WR_WR_UD_REMOTE_QPN)).isEqualTo(17);
            assertThatThrownBy(peer::close).hasMessageContaining("in use by requests");
            completed(1);
            peer.close();
        }
    }

    @Test
    void shouldAnswerOrThrowAfterClose() throws Exception {
        SendRequestFlyweight kept = next();
        AtomicReference<Throwable> thrown = new AtomicReference<>();
        Thread other =
                new Thread(
                        () -> {
                            try {
                                builder.complete();
                            } catch (IllegalStateException e) {
                                thrown.set(e);
                            }
                        });
        other.start();
        other.join(60_000);
        assertThat(thrown.get()).hasMessageContaining("is used by thread");
        queue.close();
        assertThat(builder.complete()).isEqualTo(Post.CLOSED);
        builder.close();
        assertThat(builder.isClosed()).isTrue();
        assertThatThrownBy(builder::complete).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(builder::start).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(kept::send).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void shouldAllocateNothing() {
        UnsafeBuffer bytes = new UnsafeBuffer(new byte[8]);
        assertThat(AllocationMeter.requireNone(() -> run(bytes, 20_000))).isPositive();
    }

    private void run(UnsafeBuffer bytes, int rounds) {
        for (int i = 0; i < rounds; i++) {
            builder.start().request().id(i).segment(pair.region, 0, 64).write(i, 7);
            builder.request().id(i).signalled(true);
            builder.inlineBytes(bytes, 0, 8);
            int taken = builder.complete();
            IDS[0] = stub.postedId(1);
            stub.complete(CompletionStatus.SUCCESS, 0, IDS);
            if (taken != 2 || pair.completions.poll(4) != 1) {
                throw new AssertionError("round " + i + ": " + taken);
            }
        }
    }

    private static final long[] IDS = new long[1];
}
