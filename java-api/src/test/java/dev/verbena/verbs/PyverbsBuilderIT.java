package dev.verbena.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.function.BiConsumer;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * The builder of sends, extended completion queues and what they refuse, on a real device:
 * counterparts of rdma-core's own tests, named by the tags; docs/pyverbs.md shows them side by
 * side.
 */
@Tag("verbs-device")
@Timeout(180)
class PyverbsBuilderIT {
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

    private void built(QueuePairType type, int operations, BiConsumer<RealPair, SendBuilder> test) {
        QueuePairContext context = RealPair.context(type).operations(operations);
        try (RealPair pair =
                        new RealPair(
                                device, context, new CompletionQueueContext(), Access.REMOTE_ALL);
                SendBuilder builder = pair.a.newBuilder(4)) {
            pair.connect();
            pair.fill();
            test.accept(pair, builder);
        }
    }

    private void reliable(BiConsumer<RealPair, SendBuilder> test) {
        built(QueuePairType.RC, SendOperations.RELIABLE, test);
    }

    private static CompletionFlyweight complete(RealPair pair, SendBuilder builder) {
        assertThat(builder.complete()).isPositive();
        CompletionFlyweight done = pair.next(pair.completionsA);
        assertThat(done.isSuccess()).as(done.toString()).isTrue();
        return done;
    }

    private static SendRequestFlyweight next(SendBuilder builder, long id) {
        return builder.request().id(id).signalled(true);
    }

    @Test
    @Tag("pyverbs-test_qpex.QpExTestCase.test_qp_ex_rc_send")
    void shouldBuildSends() {
        reliable(
                (pair, builder) -> {
                    pair.b.post(pair.receives.set(0, 70, pair.regionB, 0, 5000), 0, 1);
                    next(builder.start(), 9).segment(pair.regionA, 8, 5000).send();
                    assertThat(complete(pair, builder).id()).isEqualTo(9);
                    pair.checkReceived(70, 5000, 0);
                    // Bytes of no region, inline.
                    UnsafeBuffer bytes = new UnsafeBuffer("not registered".getBytes());
                    pair.b.post(pair.receives.set(0, 71, pair.regionB, 0, 64), 0, 1);
                    next(builder.start(), 10);
                    builder.inlineBytes(bytes, 4, 10);
                    complete(pair, builder);
                    assertThat(pair.next(pair.completionsB).length()).isEqualTo(10);
                    assertThat(pair.bytesB.getStringWithoutLengthAscii(0, 10))
                            .isEqualTo("registered");
                });
    }

    @Test
    @Tag("pyverbs-test_qpex.QpExTestCase.test_qp_ex_rc_send_imm")
    void shouldBuildSendsWithImmediateData() {
        reliable(
                (pair, builder) -> {
                    pair.b.post(pair.receives.set(0, 70, pair.regionB, 0, 64), 0, 1);
                    next(builder.start(), 1).segment(pair.regionA, 8, 64).sendImmediate(0xfeedbeef);
                    complete(pair, builder);
                    CompletionFlyweight received = pair.next(pair.completionsB);
                    assertThat(received.hasImmediate()).isTrue();
                    assertThat(received.immediate()).isEqualTo(0xfeedbeef);
                    pair.checkBytes(8, 0, 64);
                });
    }

    @Test
    @Tag("pyverbs-test_qpex.QpExTestCase.test_qp_ex_rc_rdma_write")
    @Tag("pyverbs-test_qpex.QpExTestCase.test_qp_ex_rc_rdma_write_zero_length")
    void shouldBuildWrites() {
        reliable(
                (pair, builder) -> {
                    int key = pair.regionB.remoteKey();
                    next(builder.start(), 1)
                            .segment(pair.regionA, 8, 4097)
                            .write(pair.regionB.remoteAddress(16), key);
                    complete(pair, builder);
                    pair.checkBytes(8, 16, 4097);
                    long before = pair.bytesB.getLong(16);
                    next(builder.start(), 2).write(pair.regionB.remoteAddress(16), key);
                    complete(pair, builder);
                    next(builder.start(), 3)
                            .segment(pair.regionA, 100, 0)
                            .write(pair.regionB.remoteAddress(16), key);
                    complete(pair, builder);
                    assertThat(pair.bytesB.getLong(16)).isEqualTo(before);
                });
    }

    @Test
    @Tag("pyverbs-test_qpex.QpExTestCase.test_qp_ex_rc_rdma_write_imm")
    void shouldBuildWritesWithImmediateData() {
        reliable(
                (pair, builder) -> {
                    pair.b.post(pair.receives.set(0, 70, pair.regionB, 0, 0), 0, 1);
                    next(builder.start(), 1)
                            .segment(pair.regionA, 8, 100)
                            .writeImmediate(
                                    pair.regionB.remoteAddress(16), pair.regionB.remoteKey(), 55);
                    complete(pair, builder);
                    CompletionFlyweight received = pair.next(pair.completionsB);
                    assertThat(received.immediate()).isEqualTo(55);
                    assertThat(received.opcode())
                            .isEqualTo(CompletionFlyweight.RECEIVE_WRITE_IMMEDIATE);
                    pair.checkBytes(8, 16, 100);
                });
    }

    @Test
    @Tag("pyverbs-test_qpex.QpExTestCase.test_qp_ex_rc_rdma_read")
    @Tag("pyverbs-test_qpex.QpExTestCase.test_qp_ex_rc_rdma_read_zero_size")
    void shouldBuildReads() {
        reliable(
                (pair, builder) -> {
                    int key = pair.regionB.remoteKey();
                    pair.bytesB.putLong(64, 4711);
                    next(builder.start(), 1)
                            .segment(pair.regionA, 8, 8)
                            .read(pair.regionB.remoteAddress(64), key);
                    assertThat(complete(pair, builder).opcode())
                            .isEqualTo(CompletionFlyweight.READ);
                    assertThat(pair.bytesA.getLong(8)).isEqualTo(4711);
                    pair.bytesB.putLong(64, 4712);
                    next(builder.start(), 2)
                            .segment(pair.regionA, 8, 0)
                            .read(pair.regionB.remoteAddress(64), key);
                    complete(pair, builder);
                    assertThat(pair.bytesA.getLong(8)).isEqualTo(4711);
                });
    }

    @Test
    @Tag("pyverbs-test_qpex.QpExTestCase.test_qp_ex_rc_atomic_cmp_swp")
    @Tag("pyverbs-test_qpex.QpExTestCase.test_qp_ex_rc_atomic_fetch_add")
    void shouldBuildAtomics() {
        reliable(
                (pair, builder) -> {
                    int key = pair.regionB.remoteKey();
                    long counter = pair.regionB.remoteAddress(64);
                    pair.bytesB.putLong(64, 40);
                    builder.start();
                    builder.request().segment(pair.regionA, 8, 8).fetchAdd(counter, key, 2);
                    next(builder, 2).segment(pair.regionA, 16, 8).compareSwap(counter, key, 42, 99);
                    assertThat(complete(pair, builder).id()).isEqualTo(2);
                    assertThat(pair.bytesA.getLong(8)).isEqualTo(40);
                    assertThat(pair.bytesA.getLong(16)).isEqualTo(42);
                    assertThat(pair.bytesB.getLong(64)).isEqualTo(99);
                });
    }

    @Test
    @Tag("pyverbs-test_qpex.QpExTestCase.test_qp_ex_ud_send")
    @Tag("pyverbs-test_qpex.QpExTestCase.test_qp_ex_ud_send_imm")
    @Tag("pyverbs-test_qpex.QpExTestCase.test_qp_ex_ud_zero_size")
    void shouldBuildDatagrams() {
        built(
                QueuePairType.UD,
                SendOperations.DATAGRAM,
                (pair, builder) -> {
                    QueuePairAddress to = pair.address(pair.b);
                    try (AddressHandle peer =
                            pair.domain.createAddressHandle(pair.path, to.gid(), to.lid())) {
                        for (int i = 0; i < 3; i++) {
                            pair.receives.set(i, 70 + i, pair.regionB, 0, 1000);
                        }
                        pair.b.post(pair.receives, 0, 3);
                        int key = pair.path.queueKey;
                        next(builder.start(), 1)
                                .segment(pair.regionA, 8, 500)
                                .send()
                                .to(peer, to.number(), key);
                        complete(pair, builder);
                        pair.checkReceived(70, 500, 40);
                        next(builder.start(), 2)
                                .segment(pair.regionA, 8, 100)
                                .sendImmediate(31)
                                .to(peer, to.number(), key);
                        complete(pair, builder);
                        assertThat(pair.next(pair.completionsB).immediate()).isEqualTo(31);
                        next(builder.start(), 3).to(peer, to.number(), key);
                        complete(pair, builder);
                        assertThat(pair.next(pair.completionsB).length()).isEqualTo(40);
                    }
                });
    }

    @Test
    void shouldBuildBatchesOfWhichOnlyTheLastIsSignalled() {
        reliable(
                (pair, builder) -> {
                    int key = pair.regionB.remoteKey();
                    for (int round = 0; round < 10; round++) {
                        builder.start();
                        for (int i = 0; i < 4; i++) {
                            builder.request()
                                    .id(i)
                                    .segment(pair.regionA, 8 + round * 400 + i * 100, 100)
                                    .write(pair.regionB.remoteAddress(round * 400L + i * 100), key)
                                    .signalled(i == 3);
                        }
                        assertThat(complete(pair, builder).id()).isEqualTo(3);
                    }
                    pair.checkBytes(8, 0, 4000);
                    // What was not asked for when the queue pair was made is refused, and breaks
                    // nothing.
                    builder.start().request().localInvalidate(1);
                    assertThat(builder.complete()).isEqualTo(Post.REFUSED);
                    assertThat(pair.a.refusal()).isEqualTo(95);
                    builder.abort();
                    assertThat(pair.a.sendRoom()).isEqualTo(pair.a.sendCapacity());
                    pair.checkTraffic(64);
                });
    }

    @Test
    @Tag("pyverbs-test_qpex.QpExTestCase.test_post_receive_qp_state_bad_flow")
    @Tag("pyverbs-test_qpex.QpExTestCase.test_post_send_qp_state_bad_flow")
    void shouldRefuseToPostInAWrongState() {
        reliable(
                (pair, builder) -> {
                    pair.a.toReset();
                    pair.b.toReset();
                    pair.receives.set(0, 70, pair.regionB, 0, 64);
                    assertThat(pair.b.post(pair.receives, 0, 1)).isEqualTo(Post.REFUSED);
                    assertThat(pair.b.receiveRefusal()).isEqualTo(22);
                    SendRequestFlyweight send =
                            pair.sends.at(0).segment(pair.regionA, 0, 8).send().signalled(true);
                    assertThat(pair.a.post(send)).isEqualTo(Post.REFUSED);
                    assertThat(pair.a.refusal()).isEqualTo(22);
                });
    }

    @Test
    @Tag("pyverbs-test_qpex.QpExTestCase.test_full_rq_bad_flow")
    @Tag("pyverbs-test_qpex.QpExTestCase.test_rq_with_larger_sgl_bad_flow")
    void shouldPushBackReceivesBeyondTheQueue() {
        try (RealPair pair = new RealPair(device, QueuePairType.RC).connect()) {
            pair.receives.set(0, 70, pair.regionB, 0, 64);
            for (int i = 0; i < pair.b.receiveCapacity(); i++) {
                assertThat(pair.b.post(pair.receives, 0, 1)).isEqualTo(1);
            }
            assertThat(pair.b.post(pair.receives, 0, 1)).isEqualTo(Post.BACK_PRESSURED);
            int segments = pair.b.attributes().receiveSegmentsMax();
            assertThatThrownBy(() -> pair.receives.segments(0, segments + 1))
                    .isInstanceOf(IndexOutOfBoundsException.class);
        }
    }

    @Test
    @Tag("pyverbs-test_cqex.CqExTestCase.test_rc_traffic_cq_ex")
    @Tag("pyverbs-test_cqex.CqExTestCase.test_ud_traffic_cq_ex")
    @Tag("pyverbs-test_cqex.CQEXAPITest.test_create_cq_ex")
    void shouldPollExtendedQueues() {
        for (QueuePairType type : new QueuePairType[] {QueuePairType.RC, QueuePairType.UD}) {
            CompletionQueueContext extended =
                    new CompletionQueueContext().details(CompletionDetails.STANDARD);
            try (RealPair pair =
                    new RealPair(device, RealPair.context(type), extended, Access.REMOTE_ALL)) {
                pair.connect();
                assertThat(pair.completionsA.capacity()).isGreaterThanOrEqualTo(64);
                for (int i = 0; i < 20; i++) {
                    if (type == QueuePairType.RC) {
                        pair.checkTraffic(100);
                    } else {
                        pair.checkDatagrams(100);
                    }
                }
                // A failure, of which less is told, and several in one poll.
                if (type == QueuePairType.RC) {
                    for (int i = 0; i < 3; i++) {
                        pair.receives.set(i, 70 + i, pair.regionB, 0, 64);
                    }
                    pair.b.post(pair.receives, 0, 3);
                    pair.b.toError();
                    assertThat(pair.next(pair.completionsB).status())
                            .isEqualTo(CompletionStatus.FLUSHED);
                    assertThat(pair.completionsB.completion(0).id()).isEqualTo(70);
                    assertThat(pair.next(pair.completionsB).id()).isEqualTo(71);
                }
            }
        }
    }
}
