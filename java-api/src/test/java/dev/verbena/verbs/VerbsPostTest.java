package dev.verbena.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.rdma.calls.VerbsLayout;
import java.util.List;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Posting and polling over the recording libibverbs. */
@Timeout(120)
class VerbsPostTest {
    private static final int ENOMEM = 12;
    private static final int EINVAL = 22;

    private final StubPair pair = new StubPair(QueuePairType.RC);
    private final VerbsStub stub = pair.stub;
    private final QueuePair queue = pair.queue;
    private final MemoryRegion region = pair.region;
    private final SendRequests sends = queue.newSends(8);
    private final ReceiveRequests receives = queue.newReceives(8);

    @AfterEach
    void close() {
        sends.close();
        receives.close();
        pair.close();
    }

    private int opcode(SendRequestFlyweight request) {
        assertThat(queue.post(request)).isEqualTo(1);
        stub.complete(CompletionStatus.SUCCESS, 0, stub.postedId(0));
        assertThat(pair.completions.poll(1)).isEqualTo(1);
        return stub.requestInt(0, VerbsLayout.SEND_WR_OPCODE);
    }

    @Test
    void shouldWriteEveryOperationAsCReadsIt() {
        SendRequestFlyweight request = sends.at(3).segment(region, 16, 100).signalled(true);
        assertThat(opcode(request.send())).isEqualTo(VerbsLayout.IBV_WR_SEND);
        assertThat(stub.requestInt(0, VerbsLayout.SEND_WR_NUM_SGE)).isEqualTo(1);
        assertThat(stub.segmentAddress(0, 0)).isEqualTo(region.remoteAddress(16));
        assertThat(stub.segmentLength(0, 0)).isEqualTo(100);
        assertThat(stub.segmentKey(0, 0)).isEqualTo(region.localKey());
        assertThat(opcode(request.sendImmediate(0x01020304)))
                .isEqualTo(VerbsLayout.IBV_WR_SEND_WITH_IMM);
        assertThat(stub.requestInt(0, VerbsLayout.SEND_WR_IMM_DATA)).isEqualTo(0x04030201);
        assertThat(opcode(request.sendInvalidate(0xfeed)))
                .isEqualTo(VerbsLayout.IBV_WR_SEND_WITH_INV);
        assertThat(stub.requestInt(0, VerbsLayout.SEND_WR_INVALIDATE_RKEY)).isEqualTo(0xfeed);
        assertThat(opcode(request.localInvalidate(0xbeef))).isEqualTo(VerbsLayout.IBV_WR_LOCAL_INV);
        assertThat(opcode(request.write(1L << 40, 0x55))).isEqualTo(VerbsLayout.IBV_WR_RDMA_WRITE);
        assertThat(stub.requestLong(0, VerbsLayout.SEND_WR_WR_RDMA_REMOTE_ADDR))
                .isEqualTo(1L << 40);
        assertThat(stub.requestInt(0, VerbsLayout.SEND_WR_WR_RDMA_RKEY)).isEqualTo(0x55);
        assertThat(opcode(request.remoteAddress(99))).isEqualTo(VerbsLayout.IBV_WR_RDMA_WRITE);
        assertThat(stub.requestLong(0, VerbsLayout.SEND_WR_WR_RDMA_REMOTE_ADDR)).isEqualTo(99);
        assertThat(opcode(request.writeImmediate(1, 2, 3)))
                .isEqualTo(VerbsLayout.IBV_WR_RDMA_WRITE_WITH_IMM);
        assertThat(opcode(request.read(5, 6))).isEqualTo(VerbsLayout.IBV_WR_RDMA_READ);
        assertThat(opcode(request.compareSwap(8, 9, 10, 11)))
                .isEqualTo(VerbsLayout.IBV_WR_ATOMIC_CMP_AND_SWP);
        assertThat(stub.requestLong(0, VerbsLayout.SEND_WR_WR_ATOMIC_REMOTE_ADDR)).isEqualTo(8);
        assertThat(stub.requestInt(0, VerbsLayout.SEND_WR_WR_ATOMIC_RKEY)).isEqualTo(9);
        assertThat(stub.requestLong(0, VerbsLayout.SEND_WR_WR_ATOMIC_COMPARE_ADD)).isEqualTo(10);
        assertThat(stub.requestLong(0, VerbsLayout.SEND_WR_WR_ATOMIC_SWAP)).isEqualTo(11);
        assertThat(opcode(request.fetchAdd(8, 9, 12)))
                .isEqualTo(VerbsLayout.IBV_WR_ATOMIC_FETCH_AND_ADD);
        assertThat(stub.requestLong(0, VerbsLayout.SEND_WR_WR_ATOMIC_COMPARE_ADD)).isEqualTo(12);
    }

    @Test
    void shouldWriteFlags() {
        SendRequestFlyweight request = sends.at(0).segments(0).signalled(true);
        opcode(request.fenced(true).solicited(true).inline(true));
        assertThat(stub.requestInt(0, VerbsLayout.SEND_WR_SEND_FLAGS)).isEqualTo(15);
        opcode(request.fenced(false).inline(false));
        assertThat(stub.requestInt(0, VerbsLayout.SEND_WR_SEND_FLAGS)).isEqualTo(6);
    }

    @Test
    void shouldPostAChainInOneCallAndTellTheCallersIds() {
        for (int i = 0; i < 3; i++) {
            sends.at(i).id(1000 + i).segment(region, i, 8).send().signalled(true);
        }
        assertThat(queue.post(sends, 0, 3)).isEqualTo(3);
        assertThat(stub.posted()).isEqualTo(3);
        stub.complete(
                CompletionStatus.SUCCESS,
                CompletionFlyweight.SEND,
                stub.postedId(0),
                stub.postedId(1),
                stub.postedId(2));
        assertThat(pair.completions.poll(16)).isEqualTo(3);
        assertThat(pair.completions.completion(2).id()).isEqualTo(1002);
        assertThat(pair.completions.completion(0).id()).isEqualTo(1000);
        assertThat(pair.completions.completion(0).isSuccess()).isTrue();
        assertThat(pair.completions.completion(0).hasImmediate()).isTrue();
        assertThat(pair.completions.completion(0).immediate()).isEqualTo(0xabcd1234);
        assertThat(pair.completions.completion(1).length()).isEqualTo(101);
        assertThatThrownBy(() -> pair.completions.completion(3))
                .isInstanceOf(IndexOutOfBoundsException.class);
        assertThat(pair.completions.poll(16)).isZero();
    }

    @Test
    void shouldPushBackWhenTheQueueIsFullAndGoOnAfterACompletion() {
        for (int i = 0; i < 8; i++) {
            sends.at(i).id(i).segments(0).signalled(i == 3);
        }
        assertThat(queue.post(sends, 0, 8)).isEqualTo(4);
        assertThat(queue.post(sends.at(4))).isEqualTo(Post.BACK_PRESSURED);
        // One signalled completion gives back the places of all before it.
        stub.complete(CompletionStatus.SUCCESS, CompletionFlyweight.SEND, stub.postedId(3));
        assertThat(pair.completions.poll(1)).isEqualTo(1);
        assertThat(queue.sendRoom()).isEqualTo(4);
        assertThat(queue.post(sends, 4, 4)).isEqualTo(4);
    }

    @Test
    void shouldSayHowManyWereTakenWhenTheLibraryRefusesOne() {
        for (int i = 0; i < 4; i++) {
            sends.at(i).id(50 + i).segments(0).signalled(true);
        }
        stub.refuse(2, EINVAL);
        assertThat(queue.post(sends, 0, 4)).isEqualTo(2);
        assertThat(queue.sendRoom()).isEqualTo(2);
        stub.refuse(0, EINVAL);
        assertThat(queue.post(sends.at(2))).isEqualTo(Post.REFUSED);
        assertThat(queue.refusal()).isEqualTo(EINVAL);
        stub.refuse(0, ENOMEM);
        assertThat(queue.post(sends.at(2))).isEqualTo(Post.BACK_PRESSURED);
        assertThat(queue.post(sends.at(3))).isEqualTo(1);
        stub.complete(CompletionStatus.SUCCESS, 0, stub.postedId(0));
        pair.completions.poll(1);
        assertThat(pair.completions.completion(0).id()).isEqualTo(53);
    }

    @Test
    void shouldNotTakeAnOldRefusalForANewOne() {
        stub.refuse(2, EINVAL);
        assertThat(queue.post(sends, 0, 3)).isEqualTo(2);
        stub.fail("ibv_post_send", EINVAL); // and says not which request
        assertThat(queue.post(sends, 1, 2)).isEqualTo(Post.REFUSED);
        assertThat(queue.sendRoom()).isEqualTo(2);
    }

    @Test
    void shouldRefuseRangesOutsideTheRegion() {
        SendRequestFlyweight request = sends.at(0);
        assertThatThrownBy(() -> request.segment(region, 65530, 8))
                .isInstanceOf(IndexOutOfBoundsException.class)
                .hasMessageContaining("65536 bytes");
        assertThatThrownBy(() -> request.segment(region, -1, 8))
                .isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> request.segment(region, 0, -8))
                .isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> request.segment(region, Long.MAX_VALUE, 8))
                .isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> request.segment(3, region, 0, 8))
                .isInstanceOf(IndexOutOfBoundsException.class)
                .hasMessageContaining("made for 3");
        assertThatThrownBy(() -> request.segments(2)).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> sends.at(8)).isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> queue.post(sends, 5, 4))
                .isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> queue.post(receives, 5, 4))
                .isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> pair.completions.poll(0))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> queue.newSends(0)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void shouldRefuseRegionsOfAnotherDomain() {
        try (ProtectionDomain other = stub.device.allocateProtectionDomain();
                MemoryRegion foreign = other.register(pair.memory, Access.LOCAL_WRITE)) {
            assertThatThrownBy(() -> sends.at(0).segment(foreign, 0, 8))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("is not of protection domain");
        }
    }

    @Test
    void shouldCountInlineBytes() {
        SendRequestFlyweight request = sends.at(0).segment(region, 0, 20).inline(true);
        assertThat(queue.post(request)).isEqualTo(1);
        request.segment(1, region, 0, 20).segments(2);
        assertThat(request.length()).isEqualTo(40);
        assertThat(queue.post(request)).isEqualTo(Post.TOO_LONG);
        assertThat(queue.post(request.segments(1))).isEqualTo(1);
    }

    @Test
    void shouldRefuseToCloseARegionThatAPostedSendUses() {
        queue.post(sends.at(0).id(1).segment(region, 0, 8).signalled(true));
        long id = stub.postedId(0);
        assertThatThrownBy(region::close)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("is in use by requests of queue pair");
        assertThatThrownBy(() -> region.changeAccess(1)).isInstanceOf(IllegalStateException.class);
        assertThat(region.isClosed()).isFalse();
        stub.complete(CompletionStatus.FLUSHED, 0, id);
        pair.completions.poll(1);
        assertThat(pair.completions.completion(0).status()).isEqualTo(CompletionStatus.FLUSHED);
        region.close();
        assertThat(queue.post(sends.at(0))).isEqualTo(Post.REGION_CLOSED);
        assertThatThrownBy(() -> sends.at(1).segment(region, 0, 8))
                .isInstanceOf(IllegalStateException.class);
    }

    @Test
    void shouldRefuseToCloseARegionThatAPostedReceiveUses() {
        assertThat(queue.post(receives.set(0, 7, region, 0, 64), 0, 1)).isEqualTo(1);
        assertThatThrownBy(region::close).isInstanceOf(IllegalStateException.class);
        stub.complete(CompletionStatus.SUCCESS, CompletionFlyweight.RECEIVE, stub.postedId(0));
        pair.completions.poll(1);
        assertThat(pair.completions.completion(0).id()).isEqualTo(7);
        region.close();
    }

    @Test
    void shouldLetARegionGoWhenTheQueuePairIsReset() {
        queue.post(sends.at(0).segment(region, 0, 8).signalled(true));
        long id = stub.postedId(0);
        queue.post(receives.set(0, 7, region, 0, 64), 0, 1);
        queue.toReset();
        assertThat(queue.sendRoom()).isEqualTo(4);
        // What comes late counts no more.
        stub.complete(CompletionStatus.FLUSHED, 0, id);
        assertThat(pair.completions.poll(1)).isZero();
        assertThat(queue.sendRoom()).isEqualTo(4);
        region.close();
    }

    @Test
    void shouldNotTakeAStaleReceiveForANewOneAfterAReset() {
        queue.post(receives.set(0, 7, region, 0, 64), 0, 1);
        long stale = stub.postedId(0);
        queue.toReset();
        for (int i = 0; i < 4; i++) {
            receives.set(i, 70 + i, region, 64L * i, 64);
        }
        assertThat(queue.post(receives, 0, 4)).isEqualTo(4);
        long first = stub.postedId(0);
        stub.complete(CompletionStatus.FLUSHED, CompletionFlyweight.RECEIVE, stale, first);
        assertThat(pair.completions.poll(4)).isEqualTo(1);
        assertThat(pair.completions.completion(0).id()).isEqualTo(70);
        assertThatThrownBy(region::close).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void shouldTakeReceivesUntilAllArePosted() {
        for (int i = 0; i < 8; i++) {
            receives.set(i, 70 + i, region, 64L * i, 64);
        }
        assertThat(queue.post(receives, 0, 8)).isEqualTo(4);
        assertThat(stub.posted()).isEqualTo(4);
        assertThat(stub.segmentAddress(2, 0)).isEqualTo(region.remoteAddress(128));
        long second = stub.postedId(1);
        assertThat(queue.post(receives, 4, 1)).isEqualTo(Post.BACK_PRESSURED);
        // In any order: the second is free again first.
        stub.complete(CompletionStatus.SUCCESS, CompletionFlyweight.RECEIVE, second);
        pair.completions.poll(4);
        assertThat(pair.completions.completion(0).id()).isEqualTo(71);
        stub.refuse(0, EINVAL);
        assertThat(queue.post(receives, 4, 1)).isEqualTo(Post.REFUSED);
        assertThat(queue.receiveRefusal()).isEqualTo(EINVAL);
        assertThat(queue.post(receives, 4, 2)).isEqualTo(1);
    }

    @Test
    void shouldPostToASharedQueueAndCompleteThroughAnyPair() {
        try (SharedReceiveQueue shared = pair.domain.createSharedReceiveQueue(4, 1);
                ReceiveRequests many = shared.newReceives(2)) {
            QueuePairContext context =
                    new QueuePairContext().completions(pair.completions).sharedReceives(shared);
            QueuePair first = pair.domain.createQueuePair(context);
            QueuePair second = pair.domain.createQueuePair(context);
            many.set(0, 30, region, 0, 64).set(1, 31, region, 64, 64);
            assertThat(shared.post(many, 0, 2)).isEqualTo(2);
            long id0 = stub.postedId(0);
            long id1 = stub.postedId(1);
            stub.complete(CompletionStatus.SUCCESS, CompletionFlyweight.RECEIVE, id1);
            assertThat(pair.completions.poll(4)).isEqualTo(1);
            assertThat(pair.completions.completion(0).id()).isEqualTo(31);
            first.close();
            stub.complete(CompletionStatus.SUCCESS, CompletionFlyweight.RECEIVE, id0);
            assertThat(pair.completions.poll(4)).isEqualTo(1);
            assertThat(pair.completions.completion(0).id()).isEqualTo(30);
            second.close();
        }
    }

    @Test
    void shouldDropCompletionsOfAQueuePairThatWasClosed() {
        QueuePair other =
                pair.domain.createQueuePair(new QueuePairContext().completions(pair.completions));
        try (SendRequests fromOther = other.newSends(1)) {
            other.post(fromOther.at(0).id(1).segments(0).signalled(true));
            long stale = stub.postedId(0);
            queue.post(sends.at(0).id(2).segments(0).signalled(true));
            other.close();
            assertThat(other.post(fromOther.at(0))).isEqualTo(Post.CLOSED);
            stub.complete(CompletionStatus.SUCCESS, 0, stale, stub.postedId(0), 12345);
            assertThat(pair.completions.poll(16)).isEqualTo(1);
            assertThat(pair.completions.completion(0).id()).isEqualTo(2);
            assertThat(pair.completions.completion(0).length()).isEqualTo(101);
        }
    }

    @Test
    void shouldTellThatPollingFailedWhateverTheNumber() {
        stub.failPoll(-7);
        assertThat(pair.completions.poll(4)).isEqualTo(-5);
        assertThatThrownBy(() -> pair.completions.completion(0))
                .isInstanceOf(IndexOutOfBoundsException.class);
        assertThat(pair.completions.poll(4)).isZero();
    }

    @Test
    void shouldSendDatagramsToHandlesThatAreOpen() {
        try (StubPair datagrams = new StubPair(QueuePairType.UD);
                SendRequests requests = datagrams.queue.newSends(1)) {
            Gid gid = Gid.parse("00000000000000000000ffff0a630002");
            AddressHandle peer = datagrams.domain.createAddressHandle(new PathContext(), gid, 0);
            SendRequestFlyweight request = requests.at(0).segments(0).signalled(true);
            assertThat(datagrams.queue.post(request)).isEqualTo(Post.REGION_CLOSED);
            assertThat(datagrams.queue.post(request.to(peer, 17, 0x77))).isEqualTo(1);
            assertThat(datagrams.stub.requestLong(0, VerbsLayout.SEND_WR_WR_UD_AH))
                    .isEqualTo(peer.address());
            assertThat(datagrams.stub.requestInt(0, VerbsLayout.SEND_WR_WR_UD_REMOTE_QPN))
                    .isEqualTo(17);
            assertThat(datagrams.stub.requestInt(0, VerbsLayout.SEND_WR_WR_UD_REMOTE_QKEY))
                    .isEqualTo(0x77);
            assertThatThrownBy(peer::close).hasMessageContaining("in use by requests of");
            completeOne(datagrams);
            // The address of memory lies where that of the handle does: it must not get there.
            assertThat(datagrams.queue.post(request.remoteAddress(64))).isEqualTo(1);
            assertThat(datagrams.stub.requestLong(0, VerbsLayout.SEND_WR_WR_UD_AH))
                    .isEqualTo(peer.address());
            completeOne(datagrams);
            assertThat(datagrams.queue.post(request.write(64, 1))).isEqualTo(Post.REGION_CLOSED);
            request.send();
            peer.close();
            assertThat(datagrams.queue.post(request)).isEqualTo(Post.REGION_CLOSED);
            datagrams.queue.joinMulticast(gid, 0xc001);
            assertThat(datagrams.stub.call()).isEqualTo("ibv_attach_mcast");
            assertThat(datagrams.stub.argument(0)).isEqualTo(0xc001);
            datagrams.queue.leaveMulticast(gid, 0xc001);
            assertThat(datagrams.stub.call()).isEqualTo("ibv_detach_mcast");
        }
    }

    private static void completeOne(StubPair pair) {
        pair.stub.complete(CompletionStatus.SUCCESS, 0, pair.stub.postedId(0));
        assertThat(pair.completions.poll(1)).isEqualTo(1);
    }

    @Test
    void shouldRefuseInlineBytesThatHaveNoAddressHere() {
        MemoryRegion zeroBased =
                pair.domain.register(pair.memory, Access.REMOTE_ALL | Access.ZERO_BASED);
        SendRequestFlyweight request = sends.at(0).segment(zeroBased, 0, 8).inline(true);
        assertThat(queue.post(request)).isEqualTo(Post.NOT_INLINE);
        assertThat(queue.post(request.inline(false))).isEqualTo(1);
        queue.toReset();
        zeroBased.close();
    }

    @Test
    void shouldRefuseSharedReceivesOfAnotherDevice() {
        try (StubPair other = new StubPair(QueuePairType.RC);
                SharedReceiveQueue foreign = other.domain.createSharedReceiveQueue(4, 1)) {
            QueuePairContext context =
                    new QueuePairContext().completions(pair.completions).sharedReceives(foreign);
            assertThatThrownBy(() -> pair.domain.createQueuePair(context))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("another device");
        }
    }

    @Test
    void shouldDropCompletionsOfASharedQueueThatWasClosed() {
        SharedReceiveQueue shared = pair.domain.createSharedReceiveQueue(4, 1);
        try (ReceiveRequests some = shared.newReceives(1);
                QueuePair user =
                        pair.domain.createQueuePair(
                                new QueuePairContext()
                                        .completions(pair.completions)
                                        .sharedReceives(shared))) {
            assertThat(user.isClosed()).isFalse();
            shared.post(some.set(0, 5, region, 0, 64), 0, 1);
        }
        long stale = stub.postedId(0);
        shared.close();
        stub.complete(CompletionStatus.SUCCESS, CompletionFlyweight.RECEIVE, stale);
        assertThat(pair.completions.poll(1)).isZero();
    }

    @Test
    void shouldThrowFromEveryQueryAfterAllIsClosed() {
        SharedReceiveQueue shared = pair.domain.createSharedReceiveQueue(4, 1);
        AddressHandle handle =
                pair.domain.createAddressHandle(
                        new PathContext(), Gid.parse("00000000000000000000ffff0a630002"), 0);
        CompletionChannel channel = stub.device.createCompletionChannel();
        channel.close();
        handle.close();
        shared.close();
        pair.close();
        RdmaDevice device = stub.device;
        PathContext path = new PathContext();
        List<ThrowingCallable> calls =
                List.of(
                        device::attributes,
                        () -> device.port(1),
                        () -> device.chooseGid(1),
                        () -> device.pkey(1, 0),
                        device::rawClockTicks,
                        device::completionVectorCount,
                        () -> device.awaitEvent(0),
                        device::allocateProtectionDomain,
                        device::createCompletionChannel,
                        () -> device.createCompletionQueue(1),
                        () -> pair.domain.register(pair.memory, 0),
                        pair.domain::allocateNullRegion,
                        () -> pair.domain.registerDmaBuf(0, 0, 1, 0, 0),
                        () -> pair.domain.createQueuePair(new QueuePairContext()),
                        () -> pair.domain.createSharedReceiveQueue(1, 1),
                        () -> pair.domain.createAddressHandle(path, null, 1),
                        () -> queue.toInit(path),
                        () -> queue.toReadyToReceive(path, queue.address(null, 1)),
                        () -> queue.toReadyToSend(path),
                        queue::toError,
                        queue::toReset,
                        queue::state,
                        () -> queue.joinMulticast(Gid.parse("0".repeat(32)), 0),
                        () -> queue.leaveMulticast(Gid.parse("0".repeat(32)), 0),
                        shared::limit,
                        () -> shared.limit(1),
                        () -> channel.await(0),
                        () -> pair.completions.requestNotification(false),
                        () -> pair.completions.resize(8),
                        () -> pair.completions.moderate(1, 1),
                        pair.completions::capacity,
                        () -> region.changeAccess(0));
        for (ThrowingCallable call : calls) {
            assertThatThrownBy(call).isInstanceOf(RuntimeException.class);
        }
    }

    @Test
    void shouldAnswerOrThrowAfterClose() {
        SendRequestFlyweight kept = sends.at(0);
        sends.close();
        assertThat(queue.post(kept)).isEqualTo(Post.CLOSED);
        assertThat(queue.post(sends, 0, 1)).isEqualTo(Post.CLOSED);
        assertThatThrownBy(() -> kept.remoteAddress(1))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("closed");
        assertThatThrownBy(() -> sends.at(0)).isInstanceOf(IllegalStateException.class);
        CompletionFlyweight completion = completionOfOne();
        queue.close();
        assertThat(queue.post(receives, 0, 1)).isEqualTo(Post.CLOSED);
        assertThatThrownBy(queue::toError).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> queue.newSends(1)).isInstanceOf(IllegalStateException.class);
        pair.completions.close();
        assertThat(pair.completions.poll(1)).isEqualTo(CompletionQueue.CLOSED);
        assertThatThrownBy(() -> pair.completions.completion(0))
                .isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(completion::id).isInstanceOf(IndexOutOfBoundsException.class);
    }

    private CompletionFlyweight completionOfOne() {
        queue.post(receives.set(0, 7, region, 0, 64), 0, 1);
        stub.complete(CompletionStatus.SUCCESS, CompletionFlyweight.RECEIVE, stub.postedId(0));
        pair.completions.poll(1);
        return pair.completions.completion(0);
    }
}
