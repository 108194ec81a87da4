package dev.verbena.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.memory.OffHeapMemories;
import dev.verbena.memory.OffHeapMemory;
import dev.verbena.rdma.calls.VerbsLayout;
import dev.verbena.rdma.calls.verbscalls;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Extended completion queues, windows, parent domains and advice over the recording libibverbs. */
@Timeout(120)
class VerbsExtendedTest {
    private static final int EINVAL = 22;
    private static final int EOPNOTSUPP = 95;
    private static final int ENOMEM = 12;
    private static final int WRITES = Access.REMOTE_WRITE;

    private final StubPair pair = new StubPair(QueuePairType.RC);
    private final VerbsStub stub = pair.stub;
    private final QueuePair queue = pair.queue;
    private final OffHeapMemory memory = OffHeapMemories.allocate(1 << 16);
    private final MemoryRegion region =
            pair.domain.register(memory, Access.REMOTE_ALL | Access.WINDOW_BIND);
    private final SendRequests sends = queue.newSends(8);

    @AfterEach
    void close() {
        sends.close();
        if (!region.isClosed()) {
            region.close();
        }
        pair.close();
        memory.close();
    }

    private void completeOne(long id) {
        stub.complete(CompletionStatus.SUCCESS, 0, id);
        assertThat(pair.completions.poll(4)).isEqualTo(1);
    }

    @Test
    void shouldMakeExtendedQueuesOfWhatWasAskedFor() {
        CompletionQueueContext context =
                new CompletionQueueContext()
                        .capacity(9)
                        .vector(2)
                        .details(CompletionDetails.TIMESTAMP | CompletionDetails.LENGTH)
                        .singleThreaded(true)
                        .ignoreOverrun(true);
        try (CompletionQueue extended = stub.device.createCompletionQueue(context)) {
            assertThat(extended.capacity()).isEqualTo(9);
            assertThat(stub.call()).isEqualTo("ibv_create_cq_ex");
            assertThat(stub.intArgument(VerbsLayout.CQ_INIT_ATTR_EX_CQE)).isEqualTo(9);
            assertThat(stub.intArgument(VerbsLayout.CQ_INIT_ATTR_EX_COMP_VECTOR)).isEqualTo(2);
            assertThat(stub.longArgument(VerbsLayout.CQ_INIT_ATTR_EX_WC_FLAGS)).isEqualTo(0x81);
            assertThat(stub.intArgument(VerbsLayout.CQ_INIT_ATTR_EX_COMP_MASK))
                    .isEqualTo(VerbsLayout.IBV_CQ_INIT_ATTR_MASK_FLAGS);
            assertThat(stub.intArgument(VerbsLayout.CQ_INIT_ATTR_EX_FLAGS)).isEqualTo(3);
        }
        stub.fail("ibv_create_cq_ex", EOPNOTSUPP);
        assertThatThrownBy(() -> stub.device.createCompletionQueue(context))
                .isInstanceOfSatisfying(
                        VerbsException.class, e -> assertThat(e.isUnsupported()).isTrue())
                .hasMessageContaining("ibv_create_cq_ex: EOPNOTSUPP (95)")
                .hasMessageContaining("details 0x81");
        CompletionQueueContext none = new CompletionQueueContext().capacity(0);
        assertThatThrownBy(() -> stub.device.createCompletionQueue(none))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> none.details(1 << 10))
                .isInstanceOf(IllegalArgumentException.class);
    }

    private static final int EVERYTHING =
            CompletionDetails.STANDARD
                    | CompletionDetails.TIMESTAMP
                    | CompletionDetails.WALL_CLOCK
                    | CompletionDetails.VLAN
                    | CompletionDetails.FLOW_TAG;

    private long postedReceive(QueuePair to, long id) {
        try (ReceiveRequests receives = to.newReceives(1)) {
            assertThat(to.post(receives.set(0, id, region, 0, 64), 0, 1)).isEqualTo(1);
        }
        return stub.requestLong(0, VerbsLayout.RECV_WR_WR_ID);
    }

    private QueuePair queuePairOf(CompletionQueue completions) {
        return pair.domain.createQueuePair(new QueuePairContext().completions(completions));
    }

    @Test
    void shouldTellEverythingThatAnExtendedQueueTells() {
        try (CompletionQueue extended =
                        stub.device.createCompletionQueue(
                                new CompletionQueueContext().details(EVERYTHING));
                QueuePair receiver = queuePairOf(extended)) {
            long first = postedReceive(receiver, 5);
            long second = postedReceive(receiver, 6);
            stub.complete(CompletionStatus.SUCCESS, CompletionFlyweight.RECEIVE, first, second);
            assertThat(extended.poll(16)).isEqualTo(2);
            assertThat(stub.call()).isEqualTo("end_poll");
            assertThat(extended.completion(0).id()).isEqualTo(5);
            CompletionFlyweight last = extended.completion(1);
            assertThat(last.id()).isEqualTo(6);
            assertThat(last.isSuccess()).isTrue();
            assertThat(last.opcode()).isEqualTo(CompletionFlyweight.RECEIVE);
            assertThat(last.length()).isEqualTo(101);
            assertThat(last.immediate()).isEqualTo(0xabcd1234);
            assertThat(last.queuePairNumber()).isEqualTo(18);
            assertThat(last.sourceQueuePair()).isEqualTo(77);
            assertThat(last.sourceLid()).isEqualTo(55);
            assertThat(last.serviceLevel()).isEqualTo(5);
            assertThat(last.timestamp()).isEqualTo(1001);
            assertThat(last.wallClockNs()).isEqualTo(2001);
            assertThat(last.vlan()).isEqualTo(12);
            assertThat(last.flowTag()).isEqualTo(13);
            assertThat(extended.poll(16)).isZero();
            assertThat(stub.call()).isEqualTo("start_poll"); // ended by the library itself
        }
    }

    @Test
    void shouldTakeNoMoreThanTheLimitAndEndThePolling() {
        try (CompletionQueue extended =
                        stub.device.createCompletionQueue(
                                new CompletionQueueContext().details(CompletionDetails.LENGTH));
                QueuePair receiver = queuePairOf(extended)) {
            long[] ids = {
                postedReceive(receiver, 1), postedReceive(receiver, 2), postedReceive(receiver, 3)
            };
            stub.complete(CompletionStatus.SUCCESS, CompletionFlyweight.RECEIVE, ids);
            assertThat(extended.poll(2)).isEqualTo(2);
            assertThat(stub.call()).isEqualTo("end_poll");
            assertThat(extended.completion(1).id()).isEqualTo(2);
            assertThat(extended.poll(2)).isEqualTo(1);
            CompletionFlyweight third = extended.completion(0);
            assertThat(third.id()).isEqualTo(3);
            assertThat(third.length()).isEqualTo(102);
            // What was not asked for has no function to call, and is not there.
            assertThat(third.queuePairNumber()).isZero();
            assertThatThrownBy(third::timestamp)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("CompletionDetails.TIMESTAMP");
            assertThatThrownBy(third::wallClockNs).isInstanceOf(IllegalStateException.class);
            assertThatThrownBy(third::vlan).isInstanceOf(IllegalStateException.class);
            assertThatThrownBy(third::flowTag).isInstanceOf(IllegalStateException.class);
        }
    }

    @Test
    void shouldNotCallWhatAnExtendedQueueLacks() {
        try (CompletionQueue extended =
                        stub.device.createCompletionQueue(
                                new CompletionQueueContext().details(CompletionDetails.LENGTH));
                QueuePair receiver = queuePairOf(extended);
                OffHeapMemory out = OffHeapMemories.allocate(4096)) {
            long id = postedReceive(receiver, 5);
            stub.complete(CompletionStatus.SUCCESS, CompletionFlyweight.RECEIVE, id);
            assertThat(verbscalls.vv_poll_cq_ex(extended.address(), EVERYTHING, 1, out.address()))
                    .isEqualTo(1);
            assertThat(CallMemory.getInt(out.address() + VerbsLayout.WC_BYTE_LEN)).isEqualTo(100);
            assertThat(CallMemory.getInt(out.address() + VerbsLayout.WC_QP_NUM)).isZero();
        }
    }

    @Test
    void shouldKeepWhatAQueueWasAskedToTell() {
        CompletionQueueContext context =
                new CompletionQueueContext().capacity(9).vector(2).details(EVERYTHING);
        CompletionQueueContext copy = context.singleThreaded(true).copy();
        String before = context.toString();
        context.capacity(1).vector(0).details(CompletionDetails.LENGTH).singleThreaded(false);
        assertThat(copy).hasToString(before);
        assertThat(copy.isSingleThreaded()).isTrue();
        assertThat(copy.detailsToRead()).isEqualTo(EVERYTHING);
    }

    @Test
    void shouldTellFailuresOfExtendedQueues() {
        try (CompletionQueue extended =
                        stub.device.createCompletionQueue(
                                new CompletionQueueContext().details(EVERYTHING));
                QueuePair receiver = queuePairOf(extended)) {
            long id = postedReceive(receiver, 5);
            stub.complete(CompletionStatus.FLUSHED, 0, id, 12345);
            assertThat(extended.poll(16)).isEqualTo(1);
            assertThat(extended.completion(0).status()).isEqualTo(CompletionStatus.FLUSHED);
            assertThat(extended.completion(0).id()).isEqualTo(5);
            stub.fail("start_poll", EINVAL);
            assertThat(extended.poll(16)).isEqualTo(-EINVAL);
            assertThatThrownBy(() -> extended.completion(0))
                    .isInstanceOf(IndexOutOfBoundsException.class);
            receiver.close();
            extended.close();
            assertThat(extended.poll(1)).isEqualTo(CompletionQueue.CLOSED);
        }
    }

    @Test
    void shouldBindWindowsOfType1() {
        MemoryWindow window = pair.domain.allocateMemoryWindow(MemoryWindowType.TYPE_1);
        assertThat(stub.argument(0)).isEqualTo(VerbsLayout.IBV_MW_TYPE_1);
        int before = window.remoteKey();
        assertThat(queue.bind(window, 9, region, 64, 100, WRITES)).isEqualTo(1);
        assertThat(stub.call()).isEqualTo("ibv_bind_mw");
        assertThat(stub.argument(0)).isEqualTo(window.address());
        assertThat(stub.intArgument(VerbsLayout.MW_BIND_SEND_FLAGS))
                .isEqualTo(VerbsLayout.IBV_SEND_SIGNALED);
        assertThat(stub.longArgument(VerbsLayout.MW_BIND_BIND_INFO_MR)).isEqualTo(region.address());
        assertThat(stub.longArgument(VerbsLayout.MW_BIND_BIND_INFO_ADDR))
                .isEqualTo(region.remoteAddress(64));
        assertThat(stub.longArgument(VerbsLayout.MW_BIND_BIND_INFO_LENGTH)).isEqualTo(100);
        assertThat(stub.intArgument(VerbsLayout.MW_BIND_BIND_INFO_MW_ACCESS_FLAGS))
                .isEqualTo(WRITES);
        assertThat(window.remoteKey()).isNotEqualTo(before);
        assertThatThrownBy(window::close)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("is in use by requests");
        assertThatThrownBy(region::close).isInstanceOf(IllegalStateException.class);
        completeOne(stub.postedId(0));
        assertThat(pair.completions.completion(0).id()).isEqualTo(9);
        assertThatThrownBy(region::close)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("has bound to it memory window");
        assertThat(queue.bind(window, 10, region, 0, 0, 0)).isEqualTo(1);
        completeOne(stub.postedId(0));
        region.close();
        window.close();
        assertThatThrownBy(window::remoteKey).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(window::nextKey).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> queue.bind(window, 9, region, 64, 100, WRITES))
                .isInstanceOf(IllegalStateException.class);
        stub.fail("ibv_alloc_mw", EOPNOTSUPP);
        assertThatThrownBy(() -> pair.domain.allocateMemoryWindow(MemoryWindowType.TYPE_2))
                .isInstanceOf(VerbsException.class)
                .hasMessageContaining("ibv_alloc_mw");
    }

    @Test
    void shouldTakeBackABindThatTheLibraryRefuses() {
        try (MemoryWindow window = pair.domain.allocateMemoryWindow(MemoryWindowType.TYPE_1)) {
            stub.fail("ibv_bind_mw", EINVAL);
            assertThat(queue.bind(window, 9, region, 64, 100, WRITES)).isEqualTo(Post.REFUSED);
            assertThat(queue.refusal()).isEqualTo(EINVAL);
            assertThat(queue.sendRoom()).isEqualTo(4);
            stub.fail("ibv_bind_mw", ENOMEM);
            assertThat(queue.bind(window, 9, region, 64, 100, WRITES))
                    .isEqualTo(Post.BACK_PRESSURED);
            region.close();
        }
    }

    @Test
    void shouldWriteBindsAsCReadsThem() {
        try (MemoryWindow window = pair.domain.allocateMemoryWindow(MemoryWindowType.TYPE_2)) {
            int key = window.nextKey();
            assertThat(key).isEqualTo(0x00345fff);
            SendRequestFlyweight bind = sends.at(0).id(4).signalled(true);
            bind.bindWindow(window, key, region, 64, 100, WRITES | Access.ZERO_BASED);
            assertThat(queue.post(bind)).isEqualTo(1);
            assertThat(stub.requestInt(0, VerbsLayout.SEND_WR_OPCODE))
                    .isEqualTo(VerbsLayout.IBV_WR_BIND_MW);
            assertThat(stub.requestLong(0, VerbsLayout.SEND_WR_BIND_MW_MW))
                    .isEqualTo(window.address());
            assertThat(stub.requestInt(0, VerbsLayout.SEND_WR_BIND_MW_RKEY)).isEqualTo(key);
            int info = VerbsLayout.SEND_WR_BIND_MW_BIND_INFO;
            assertThat(stub.requestLong(0, info + VerbsLayout.MW_BIND_INFO_MR))
                    .isEqualTo(region.address());
            assertThat(stub.requestLong(0, info + VerbsLayout.MW_BIND_INFO_ADDR))
                    .isEqualTo(region.remoteAddress(64));
            assertThat(stub.requestLong(0, info + VerbsLayout.MW_BIND_INFO_LENGTH)).isEqualTo(100);
            assertThat(stub.requestInt(0, info + VerbsLayout.MW_BIND_INFO_MW_ACCESS_FLAGS))
                    .isEqualTo(WRITES | Access.ZERO_BASED);
            assertThat(window.remoteKey()).isEqualTo(key);
            // The lowest 8 bits count round, and the library reads the key of the next from here.
            assertThat(window.nextKey()).isEqualTo(0x00345f00);
            assertThat(CallMemory.getInt(window.address() + VerbsLayout.MW_RKEY)).isEqualTo(key);
            assertThatThrownBy(window::close).hasMessageContaining("is in use by requests");
            completeOne(stub.postedId(0));
            assertThatThrownBy(region::close).hasMessageContaining("has bound to it");
        }
    }

    @Test
    void shouldKnowAWindowsKeyAndRegionOnlyOnceTheBindWasTaken() {
        try (OffHeapMemory other = OffHeapMemories.allocate(4096);
                MemoryRegion second =
                        pair.domain.register(other, Access.REMOTE_ALL | Access.WINDOW_BIND);
                MemoryWindow window = pair.domain.allocateMemoryWindow(MemoryWindowType.TYPE_2)) {
            int before = window.remoteKey();
            sends.at(0).bindWindow(window, window.nextKey(), region, 0, 8, WRITES);
            stub.refuse(0, EINVAL);
            assertThat(queue.post(sends.at(0))).isEqualTo(Post.REFUSED);
            assertThat(window.remoteKey()).isEqualTo(before);
            assertThat(window.bound()).isNull();
            assertThat(queue.post(sends, 0, 1)).isEqualTo(1);
            assertThat(window.bound()).isSameAs(region);
            sends.at(0).signalled(true).segments(0).send();
            sends.at(1).bindWindow(window, window.nextKey(), second, 0, 8, WRITES);
            stub.refuse(1, EINVAL);
            assertThat(queue.post(sends, 0, 2)).isEqualTo(1);
            assertThat(window.bound()).isSameAs(region);
            assertThat(window.remoteKey()).isEqualTo(before + 1);
            completeOne(stub.postedId(0));
            second.close();
        }
    }

    @Test
    void shouldNotBindWhatIsClosed() {
        MemoryWindow window = pair.domain.allocateMemoryWindow(MemoryWindowType.TYPE_2);
        SendRequestFlyweight bind = sends.at(0);
        bind.bindWindow(window, window.nextKey(), region, 0, 8, WRITES);
        window.close();
        assertThat(queue.post(bind)).isEqualTo(Post.REGION_CLOSED);
        assertThatThrownBy(() -> bind.bindWindow(window, 1, region, 0, 8, WRITES))
                .isInstanceOf(IllegalStateException.class);
        try (MemoryWindow another = pair.domain.allocateMemoryWindow(MemoryWindowType.TYPE_2)) {
            bind.bindWindow(another, another.nextKey(), region, 0, 8, WRITES);
            region.close();
            assertThat(queue.post(bind)).isEqualTo(Post.REGION_CLOSED);
            assertThat(queue.post(sends, 0, 1)).isEqualTo(Post.REGION_CLOSED);
            assertThat(queue.post(bind.send())).isEqualTo(1);
        }
    }

    @Test
    void shouldRefuseBindsThatWouldBreakTheQueuePair() {
        try (MemoryWindow first = pair.domain.allocateMemoryWindow(MemoryWindowType.TYPE_1);
                MemoryWindow second = pair.domain.allocateMemoryWindow(MemoryWindowType.TYPE_2)) {
            SendRequestFlyweight bind = sends.at(0);
            int key = second.nextKey();
            assertThatThrownBy(() -> bind.bindWindow(first, key, region, 0, 8, WRITES))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("QueuePair.bind");
            assertThatThrownBy(() -> queue.bind(second, 1, region, 0, 8, WRITES))
                    .isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> bind.bindWindow(second, key ^ 0x100, region, 0, 8, WRITES))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("nextKey()");
            assertThatThrownBy(() -> bind.bindWindow(second, key, pair.region, 0, 8, WRITES))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("WINDOW_BIND");
            assertThatThrownBy(() -> bind.bindWindow(second, key, region, 65530, 8, WRITES))
                    .isInstanceOf(IndexOutOfBoundsException.class);
            assertThatThrownBy(() -> bind.bindWindow(second, key, region, 0, 0, WRITES))
                    .isInstanceOf(IndexOutOfBoundsException.class);
            assertThatThrownBy(() -> bind.bindWindow(second, key, region, 0, 8, 1))
                    .isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> queue.bind(first, 1, region, -1, 8, WRITES))
                    .isInstanceOf(IndexOutOfBoundsException.class);
            assertThatThrownBy(() -> queue.bind(first, 1, region, 0, 8, Access.ZERO_BASED))
                    .isInstanceOf(IllegalArgumentException.class);
            try (ProtectionDomain other = stub.device.allocateProtectionDomain();
                    MemoryWindow foreign = other.allocateMemoryWindow(MemoryWindowType.TYPE_1)) {
                assertThatThrownBy(() -> queue.bind(foreign, 1, region, 0, 8, WRITES))
                        .isInstanceOf(IllegalArgumentException.class);
            }
        }
    }

    @Test
    @Tag("pyverbs-test_parent_domain.ParentDomainTrafficTest.test_without_allocators_rc_traffic")
    void shouldUseMemoryOfADomainWithQueuesOfItsParentDomain() {
        try (ThreadDomain threads = stub.device.allocateThreadDomain();
                ProtectionDomain parent = pair.domain.allocateParentDomain(threads);
                CompletionQueue completions =
                        stub.device.createCompletionQueue(
                                new CompletionQueueContext().parentDomain(parent))) {
            assertThat(stub.longArgument(VerbsLayout.CQ_INIT_ATTR_EX_PARENT_DOMAIN))
                    .isEqualTo(parent.address());
            assertThat(stub.longArgument(VerbsLayout.CQ_INIT_ATTR_EX_WC_FLAGS))
                    .isEqualTo(CompletionDetails.STANDARD);
            QueuePair there =
                    parent.createQueuePair(new QueuePairContext().completions(completions));
            try (SendRequests requests = there.newSends(1)) {
                requests.at(0).segment(region, 0, 8).send();
                assertThat(there.post(requests.at(0))).isEqualTo(1);
                assertThatThrownBy(region::close)
                        .isInstanceOf(IllegalStateException.class)
                        .hasMessageContaining("is in use by requests of queue pair");
                assertThatThrownBy(pair.domain::close).isInstanceOf(IllegalStateException.class);
                assertThatThrownBy(threads::close)
                        .isInstanceOf(IllegalStateException.class)
                        .hasMessageContaining("parent domain of protection domain");
                assertThatThrownBy(() -> queue.post(requests.at(0)))
                        .isInstanceOf(IllegalArgumentException.class);
            }
            there.close();
            region.close();
        }
        stub.fail("ibv_alloc_parent_domain", EOPNOTSUPP);
        assertThatThrownBy(() -> pair.domain.allocateParentDomain(null))
                .isInstanceOf(VerbsException.class)
                .hasMessageContaining("ibv_alloc_parent_domain: EOPNOTSUPP");
        stub.fail("ibv_alloc_td", EOPNOTSUPP);
        assertThatThrownBy(stub.device::allocateThreadDomain).isInstanceOf(VerbsException.class);
    }

    @Test
    @Tag("pyverbs-test_odp.OdpTestCase.test_odp_sync_prefetch_rc_traffic")
    void shouldAdviseTheDevice() {
        region.prefetch(64, 100, true, true);
        assertThat(stub.argument(0)).isEqualTo(VerbsLayout.IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE);
        assertThat(stub.argument(1)).isEqualTo(VerbsLayout.IBV_ADVISE_MR_FLAG_FLUSH);
        assertThat(stub.argument(2)).isEqualTo(1);
        assertThat(stub.longArgument(VerbsLayout.SGE_ADDR)).isEqualTo(region.remoteAddress(64));
        assertThat(stub.intArgument(VerbsLayout.SGE_LENGTH)).isEqualTo(100);
        assertThat(stub.intArgument(VerbsLayout.SGE_LKEY)).isEqualTo(region.localKey());
        region.prefetch(0, 1, false, false);
        assertThat(stub.argument(0)).isEqualTo(VerbsLayout.IBV_ADVISE_MR_ADVICE_PREFETCH);
        assertThat(stub.argument(1)).isZero();
        assertThatThrownBy(() -> region.prefetch(65530, 8, false, false))
                .isInstanceOf(IndexOutOfBoundsException.class);
        stub.fail("ibv_advise_mr", EOPNOTSUPP);
        assertThatThrownBy(() -> region.prefetch(0, 1, false, false))
                .isInstanceOf(VerbsException.class)
                .hasMessageContaining("ibv_advise_mr");
    }

    @Test
    @Tag("pyverbs-test_qp.QPTest.test_create_raw_qp_no_attr")
    void shouldSayWhatRawPacketsNeed() {
        QueuePairContext context =
                new QueuePairContext().type(QueuePairType.RAW_PACKET).completions(pair.completions);
        stub.fail("ibv_create_qp", 1);
        assertThatThrownBy(() -> pair.domain.createQueuePair(context))
                .isInstanceOf(VerbsException.class)
                .hasMessageContaining("EPERM (1)")
                .hasMessageContaining("CAP_NET_RAW");
        try (QueuePair raw = pair.domain.createQueuePair(context)) {
            assertThat(stub.intArgument(VerbsLayout.QP_INIT_ATTR_QP_TYPE))
                    .isEqualTo(VerbsLayout.IBV_QPT_RAW_PACKET);
            raw.toInit(new PathContext());
            assertThat(stub.argument(0))
                    .isEqualTo(VerbsLayout.IBV_QP_STATE | VerbsLayout.IBV_QP_PORT);
            raw.toReadyToReceive(new PathContext(), null);
            assertThat(stub.argument(0)).isEqualTo(VerbsLayout.IBV_QP_STATE);
            raw.toReadyToSend(new PathContext());
            assertThat(stub.argument(0)).isEqualTo(VerbsLayout.IBV_QP_STATE);
        }
    }

    @Test
    void shouldAskForTheOrderOfBytesAndTheAttributes() {
        assertThat(queue.isDataInOrder(SendOperations.WRITE)).isTrue();
        assertThat(queue.isDataInOrder(SendOperations.READ)).isFalse();
        assertThat(stub.argument(0)).isEqualTo(VerbsLayout.IBV_WR_RDMA_READ);
        assertThatThrownBy(() -> queue.isDataInOrder(0))
                .isInstanceOf(IllegalArgumentException.class);
        assertThat(queue.attributes().state()).isEqualTo(QueuePairState.RESET);
        queue.close();
        assertThatThrownBy(queue::attributes).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> queue.isDataInOrder(SendOperations.WRITE))
                .isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> queue.newBuilder(1)).isInstanceOf(IllegalStateException.class);
    }
}
