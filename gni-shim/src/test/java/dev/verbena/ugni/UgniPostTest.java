package dev.verbena.ugni;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.ugni.bindings.ugni;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Posts through the Java objects: what moves, what is told, what is refused. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class UgniPostTest extends UgniPair {
    private static final int GLOBAL = PostDescriptorFlyweight.GLOBAL_EVENT;
    private static final int REMOTE = PostDescriptorFlyweight.REMOTE_EVENT;

    @Test
    @Tag("ugni-19")
    @Tag("ugni-44")
    @Tag("ugni-58")
    @Tag("ugni-60")
    void shouldPutByFmaAndTellBothSides() {
        claim(PostDescriptorFlyweight.FMA_PUT, GLOBAL | REMOTE, 100).postId(42);
        assertThat(endpoint.postFma(post)).isZero();
        assertThat(post.isInFlight()).isTrue();
        assertThat(take()).isEqualTo(CompletionQueue.EVENT);
        assertThat(done.postId()).isEqualTo(42);
        assertThat(done.status()).isZero();
        assertThat(done.isInFlight()).isFalse();
        assertThat(CompletionEvent.instance(source.event())).isEqualTo(2);
        assertThat(CompletionEvent.source(source.event()))
                .isEqualTo(CompletionEvent.SOURCE_REQUEST);
        assertThat(destination.poll()).isEqualTo(CompletionQueue.EVENT);
        assertThat(CompletionEvent.instance(destination.event())).isEqualTo(1);
        assertThat(CompletionEvent.source(destination.event()))
                .isEqualTo(CompletionEvent.SOURCE_REMOTE);
        assertThat(source.poll()).isEqualTo(CompletionQueue.EMPTY);
        assertThat(destination.poll()).isEqualTo(CompletionQueue.EMPTY);
        assertThat(CompletionEvent.isOverrun(source.event())).isFalse();
        assertThat(CompletionEvent.status(source.event())).isZero();
        assertThat(done.index()).isEqualTo(post.index());
        assertThat(arrived.getByte(99)).isEqualTo(sent.getByte(99));
        assertThat(arrived.getByte(100)).isZero();
        posts.release(post);
    }

    @Test
    void shouldPutAndGetByRdma() {
        claim(PostDescriptorFlyweight.RDMA_PUT, GLOBAL, LENGTH);
        assertThat(endpoint.postRdma(post)).isZero();
        assertThat(take()).isEqualTo(CompletionQueue.EVENT);
        assertThat(arrived.compareTo(sent)).isZero();
        arrived.setMemory(0, LENGTH, (byte) 9);
        post.type(PostDescriptorFlyweight.RDMA_GET);
        assertThat(endpoint.postRdma(post)).isZero();
        assertThat(take()).isEqualTo(CompletionQueue.EVENT);
        assertThat(sent.getByte(LENGTH - 1)).isEqualTo((byte) 9);
    }

    @Test
    void shouldAddAndFetch() {
        arrived.putLong(8, 40);
        claim(PostDescriptorFlyweight.AMO, GLOBAL, 8)
                .atomic(AtomicCommand.ATOMIC_FADD, 2, 0)
                .remoteAddress(remote.address() + 8);
        assertThat(endpoint.postFma(post)).isZero();
        assertThat(take()).isEqualTo(CompletionQueue.EVENT);
        assertThat(arrived.getLong(8)).isEqualTo(42);
        assertThat(sent.getLong(0)).isEqualTo(40);
    }

    @Test
    @Tag("ugni-67")
    void shouldWriteIntoThePeersQueue() {
        claim(PostDescriptorFlyweight.CQWRITE, GLOBAL, 0).cqWriteValue(0x1234_5678_9ABCL);
        assertThat(endpoint.postCqWrite(post)).isZero();
        assertThat(take()).isEqualTo(CompletionQueue.EVENT);
        assertThat(destination.await(1000)).isEqualTo(CompletionQueue.EVENT);
        assertThat(CompletionEvent.data(destination.event())).isEqualTo(0x1234_5678_9ABCL);
    }

    @Test
    @Tag("ugni-65")
    void shouldFailByAnEventWhenThePeersMemoryEnds() {
        claim(PostDescriptorFlyweight.RDMA_PUT, GLOBAL, 16)
                .remoteAddress(remote.address() + LENGTH - 8);
        assertThat(endpoint.postRdma(post)).isZero();
        assertThat(take()).isEqualTo(CompletionQueue.FAILED);
        assertThat(done.status()).isEqualTo(UgniCode.TRANSACTION_ERROR);
        assertThat(CompletionEvent.status(source.event())).isNotZero();
        assertThat(source.errorText()).contains("MEM_BOUNDS_ERR");
        assertThat(arrived.getLong(LENGTH - 8)).isZero();
    }

    @Test
    void shouldRefuseADescriptorInFlightUntilItsEventWasAskedFor() {
        claim(PostDescriptorFlyweight.FMA_PUT, GLOBAL, 8);
        assertThat(endpoint.postFma(post)).isZero();
        assertThat(endpoint.postFma(post)).isEqualTo(-UgniCode.INVALID_STATE);
        assertThatThrownBy(() -> post.length(1)).hasMessageContaining("in flight");
        assertThatThrownBy(() -> posts.release(post)).hasMessageContaining("in flight");
        assertThatThrownBy(() -> posts.close()).hasMessageContaining("in flight");
        assertThatThrownBy(() -> local.close()).hasMessageContaining("in flight");
        assertThatThrownBy(() -> endpoint.close()).hasMessageContaining("in flight");
        assertThatThrownBy(() -> endpoint.unbind()).hasMessageContaining("in flight");
        assertThat(take()).isEqualTo(CompletionQueue.EVENT);
        assertThat(endpoint.postFma(post)).isZero();
        assertThat(take()).isEqualTo(CompletionQueue.EVENT);
        posts.close();
        local.close();
        endpoint.close();
    }

    @Test
    void shouldRefuseToReadBehindLocalMemory() {
        claim(PostDescriptorFlyweight.FMA_PUT, GLOBAL, 16).local(local, LENGTH - 8);
        assertThat(endpoint.postFma(post)).isEqualTo(-UgniCode.INVALID_PARAM);
        post.local(from, LENGTH - 8);
        assertThat(endpoint.postFma(post)).isEqualTo(-UgniCode.INVALID_PARAM);
        post.length(-1);
        assertThat(endpoint.postFma(post)).isEqualTo(-UgniCode.INVALID_PARAM);
        assertThatThrownBy(() -> post.local(local, LENGTH + 1))
                .isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> post.local(from, -1))
                .isInstanceOf(IndexOutOfBoundsException.class);
    }

    @Test
    @Tag("ugni-48")
    void shouldMoveLengthsOfAllKindsAndNothingBesideThem() {
        try (UgniMemory large = initiator.allocate(2 << 20);
                UgniMemory there = target.allocate(2 << 20);
                MemoryRegistration own = initiator.register(large, Nic.READ_WRITE, null);
                MemoryRegistration theirs = target.register(there, Nic.READ_WRITE, null)) {
            for (int length : new int[] {4, 8, 63 * 4, 4096, (1 << 20) + 4}) {
                roundTrip(large, there, own, theirs, length);
            }
        }
    }

    private void roundTrip(
            UgniMemory large,
            UgniMemory there,
            MemoryRegistration own,
            MemoryRegistration theirs,
            int length) {
        UnsafeBuffer mine = large.buffer(0, 2 << 20);
        UnsafeBuffer other = there.buffer(0, 2 << 20);
        mine.setMemory(0, 2 << 20, (byte) 0);
        other.setMemory(0, 2 << 20, (byte) 0);
        for (int i = 0; i < length; i++) {
            mine.putByte(64 + i, (byte) (i % 127 + 1));
        }
        claim(PostDescriptorFlyweight.RDMA_PUT, GLOBAL, length)
                .local(own, 64)
                .remote(theirs.address() + 128, theirs.handle1(), theirs.handle2());
        assertThat(endpoint.postRdma(post)).isZero();
        assertThat(take()).isEqualTo(CompletionQueue.EVENT);
        assertThat(other.getByte(127)).isZero();
        assertThat(other.getByte(128 + length)).isZero();
        mine.setMemory(0, 2 << 20, (byte) 0);
        post.type(PostDescriptorFlyweight.RDMA_GET);
        assertThat(endpoint.postRdma(post)).isZero();
        assertThat(take()).isEqualTo(CompletionQueue.EVENT);
        for (int i = 0; i < length; i++) {
            assertThat(mine.getByte(64 + i)).isEqualTo((byte) (i % 127 + 1));
        }
        assertThat(mine.getByte(63)).isZero();
        assertThat(mine.getByte(64 + length)).isZero();
        posts.release(post);
    }

    @Test
    @Tag("ugni-50")
    @Tag("ugni-52")
    void shouldRefuseGetsThatAreNotInFours() {
        for (int type :
                new int[] {PostDescriptorFlyweight.RDMA_GET, PostDescriptorFlyweight.FMA_GET}) {
            claim(type, GLOBAL, 8).local(local, 2);
            assertThat(start(type)).isEqualTo(-UgniCode.ALIGNMENT_ERROR);
            post.local(local, 0).remoteAddress(remote.address() + 1);
            assertThat(start(type)).isEqualTo(-UgniCode.ALIGNMENT_ERROR);
            post.remoteAddress(remote.address()).length(7);
            assertThat(start(type)).isEqualTo(-UgniCode.ALIGNMENT_ERROR);
            posts.release(post);
        }
        claim(PostDescriptorFlyweight.FMA_GET, GLOBAL, 0);
        assertThat(endpoint.postFma(post)).isEqualTo(-UgniCode.INVALID_PARAM);
        post.type(PostDescriptorFlyweight.AMO).atomic(AtomicCommand.ATOMIC_ADD, 1, 0);
        assertThat(endpoint.postFma(post)).isEqualTo(-UgniCode.INVALID_PARAM);
        assertThat(source.poll()).isEqualTo(CompletionQueue.EMPTY);
    }

    private int start(int type) {
        return type == PostDescriptorFlyweight.RDMA_GET
                ? endpoint.postRdma(post)
                : endpoint.postFma(post);
    }

    @Test
    @Tag("ugni-51")
    void shouldPutNothingAndTellSo() {
        claim(PostDescriptorFlyweight.FMA_PUT, GLOBAL, 0);
        assertThat(endpoint.postFma(post)).isZero();
        assertThat(take()).isEqualTo(CompletionQueue.EVENT);
    }

    @Test
    @Tag("ugni-53")
    void shouldPutFromMemoryThatIsNotRegistered() {
        try (UgniMemory plain = initiator.allocate(64)) {
            plain.buffer(0, 64).putLong(0, 0x1122_3344_5566_7788L);
            claim(PostDescriptorFlyweight.FMA_PUT, GLOBAL, 8).local(plain, 0);
            assertThat(endpoint.postFma(post)).isZero();
            plain.buffer(0, 64).putLong(0, 0);
            assertThatThrownBy(plain::close).hasMessageContaining("in flight");
            assertThat(take()).isEqualTo(CompletionQueue.EVENT);
            assertThat(arrived.getLong(0)).isEqualTo(0x1122_3344_5566_7788L);
        }
        assertThat(endpoint.postFma(post)).isEqualTo(-UgniCode.INVALID_PARAM);
    }

    @Test
    @Tag("ugni-54")
    @Tag("ugni-55")
    @Tag("ugni-56")
    void shouldRefuseTypesAndEventsThatDoNotFit() {
        claim(PostDescriptorFlyweight.FMA_PUT, PostDescriptorFlyweight.LOCAL_EVENT, 8);
        assertThat(endpoint.postFma(post)).isEqualTo(-UgniCode.INVALID_PARAM);
        post.cqMode(GLOBAL);
        assertThat(endpoint.postRdma(post)).isEqualTo(-UgniCode.INVALID_PARAM);
        post.type(PostDescriptorFlyweight.RDMA_PUT);
        assertThat(endpoint.postFma(post)).isEqualTo(-UgniCode.INVALID_PARAM);
        post.cqMode(GLOBAL | PostDescriptorFlyweight.LOCAL_EVENT);
        assertThat(endpoint.postRdma(post)).isEqualTo(-UgniCode.INVALID_PARAM);
        assertThat(post.isInFlight()).isFalse();
    }

    @Test
    @Tag("ugni-59")
    void shouldTellNothingOfASilentPost() {
        claim(PostDescriptorFlyweight.FMA_PUT, PostDescriptorFlyweight.SILENT, 8);
        for (int i = 0; i < 10_000; i++) {
            assertThat(endpoint.postFma(post)).isZero();
        }
        assertThat(post.isInFlight()).isFalse();
        assertThat(source.poll()).isEqualTo(CompletionQueue.EMPTY);
        assertThat(arrived.getLong(0)).isEqualTo(sent.getLong(0));
    }

    @Test
    @Tag("ugni-62")
    @Tag("ugni-63")
    void shouldTellTheQueueThatThePostNames() {
        try (CompletionQueue other = initiator.completionQueue(8, CompletionQueue.NO_BLOCK);
                CompletionQueue taken = initiator.completionQueue(8, CompletionQueue.NO_BLOCK);
                MemoryRegistration tied = initiator.register(from, Nic.READ_ONLY, taken)) {
            claim(PostDescriptorFlyweight.RDMA_PUT, GLOBAL, 8).sourceQueue(other);
            assertThat(endpoint.postRdma(post)).isZero();
            assertThatThrownBy(other::close).hasMessageContaining("used");
            assertThat(source.poll()).isEqualTo(CompletionQueue.EMPTY);
            assertThat(other.poll()).isEqualTo(CompletionQueue.EVENT);
            assertThat(other.completed(done)).isZero();
            post.sourceQueue(null);
            assertThat(endpoint.postRdma(post)).isZero();
            assertThat(take()).isEqualTo(CompletionQueue.EVENT);
            post.sourceQueue(taken);
            assertThat(endpoint.postRdma(post)).isEqualTo(-UgniCode.INVALID_PARAM);
            assertThat(tied.length()).isEqualTo(LENGTH);
        }
        assertThatThrownBy(() -> endpoint.postRdma(post)).hasMessageContaining("closed");
    }

    @Test
    @Tag("ugni-68")
    @Tag("ugni-70")
    void shouldRefuseLengthsBehindTheCardsAndPostsWithoutAPeer() {
        claim(PostDescriptorFlyweight.RDMA_PUT, GLOBAL, 1L << 32);
        assertThat(endpoint.postRdma(post)).isEqualTo(-UgniCode.INVALID_PARAM);
        try (Endpoint alone = initiator.endpoint(source)) {
            post.length(8);
            assertThat(alone.postRdma(post)).isNotZero();
            post.type(PostDescriptorFlyweight.FMA_PUT);
            assertThat(alone.postFma(post)).isNotZero();
        }
    }

    @Test
    @Tag("ugni-73")
    @Tag("ugni-74")
    void shouldSwapOnlyWhatIsAsExpected() {
        arrived.putLong(0, 5);
        claim(PostDescriptorFlyweight.AMO, GLOBAL, 8).atomic(AtomicCommand.ATOMIC_CSWAP, 4, 9);
        assertThat(endpoint.postFma(post)).isZero();
        assertThat(take()).isEqualTo(CompletionQueue.EVENT);
        assertThat(sent.getLong(0)).isEqualTo(5);
        assertThat(arrived.getLong(0)).isEqualTo(5);
        post.atomic(AtomicCommand.ATOMIC_CSWAP, 5, 9);
        assertThat(endpoint.postFma(post)).isZero();
        assertThat(take()).isEqualTo(CompletionQueue.EVENT);
        assertThat(arrived.getLong(0)).isEqualTo(9);
        post.remoteAddress(remote.address() + 4);
        assertThat(endpoint.postFma(post)).isEqualTo(-UgniCode.ALIGNMENT_ERROR);
        int onFourBytes = AtomicCommand.onFourBytes(AtomicCommand.ATOMIC2_FIADD);
        assertThat(onFourBytes).isEqualTo(ugni.GNI_FMA_ATOMIC2_FIADD_S);
        assertThat(AtomicCommand.length(onFourBytes)).isEqualTo(4);
        assertThat(AtomicCommand.isFetching(onFourBytes)).isTrue();
        assertThat(AtomicCommand.cached(onFourBytes)).isEqualTo(ugni.GNI_FMA_ATOMIC2_FIADD_SC);
        assertThat(AtomicCommand.cached(AtomicCommand.ATOMIC_FADD))
                .isEqualTo(ugni.GNI_FMA_ATOMIC_FADD_C);
        assertThat(AtomicCommand.isFetching(AtomicCommand.ATOMIC2_IADD)).isFalse();
    }

    @Test
    @Tag("ugni-25")
    @Tag("ugni-26")
    void shouldNotReachAnythingByMadeUpHandles() {
        for (long[] handle :
                new long[][] {
                    {0, 0},
                    {remote.handle1(), remote.handle2() ^ 1L << 60},
                    {remote.handle1() ^ 1, remote.handle2()},
                    {-1, -1}
                }) {
            claim(PostDescriptorFlyweight.RDMA_PUT, GLOBAL, 8)
                    .remote(remote.address(), handle[0], handle[1]);
            assertThat(endpoint.postRdma(post)).isZero();
            assertThat(take()).isEqualTo(CompletionQueue.FAILED);
            posts.release(post);
        }
        assertThat(arrived.getLong(0)).isZero();
    }

    @Test
    @Tag("ugni-27")
    void shouldFailByAnEventAfterThePeerHasDeregistered() {
        claim(PostDescriptorFlyweight.RDMA_PUT, GLOBAL, 8);
        remote.close();
        to.close();
        assertThat(endpoint.postRdma(post)).isZero();
        assertThat(take()).isEqualTo(CompletionQueue.FAILED);
        there.closeAll();
        assertThat(endpoint.postRdma(post)).isZero();
        assertThat(take()).isEqualTo(CompletionQueue.FAILED);
    }

    @Test
    @Tag("ugni-30")
    void shouldNotWriteWhatIsReadOnly() {
        try (MemoryRegistration readable = target.register(to, Nic.READ_ONLY, null);
                MemoryRegistration mine = initiator.register(from, Nic.READ_ONLY, null)) {
            claim(PostDescriptorFlyweight.RDMA_PUT, GLOBAL, 8)
                    .remote(readable.address(), readable.handle1(), readable.handle2());
            assertThat(endpoint.postRdma(post)).isEqualTo(-UgniCode.PERMISSION_ERROR);
            post.type(PostDescriptorFlyweight.RDMA_GET).local(mine, 0);
            assertThat(endpoint.postRdma(post)).isEqualTo(-UgniCode.PERMISSION_ERROR);
        }
    }

    @Test
    @Tag("ugni-30")
    void shouldNotStoreToMemoryHereThatMayOnlyBeRead() throws IOException {
        Path file = Files.createTempFile("ugni", ".bytes");
        Files.write(file, new byte[4096]);
        ByteBuffer mapped;
        try (FileChannel channel = FileChannel.open(file)) {
            mapped = channel.map(FileChannel.MapMode.READ_ONLY, 0, 4096);
        }
        Files.delete(file);
        assertThatThrownBy(() -> initiator.register(mapped, Nic.READ_WRITE, null))
                .isInstanceOf(IllegalArgumentException.class);
        try (MemoryRegistration readable = initiator.register(mapped, Nic.READ_ONLY, null)) {
            for (int type :
                    new int[] {
                        PostDescriptorFlyweight.FMA_GET,
                        PostDescriptorFlyweight.FMA_GET_W_FLAG,
                        PostDescriptorFlyweight.AMO,
                        PostDescriptorFlyweight.AMO_W_FLAG,
                        PostDescriptorFlyweight.CE
                    }) {
                claim(type, GLOBAL, 8).local(readable, 0).atomic(AtomicCommand.ATOMIC_FADD, 1, 0);
                assertThat(endpoint.postFma(post)).isEqualTo(-UgniCode.PERMISSION_ERROR);
                posts.release(post);
            }
            claim(PostDescriptorFlyweight.AMO, GLOBAL, 8)
                    .local(readable, 0)
                    .atomic(AtomicCommand.ATOMIC_ADD, 1, 0);
            assertThat(endpoint.postFma(post)).isZero();
            assertThat(take()).isEqualTo(CompletionQueue.EVENT);
            assertThat(arrived.getLong(0)).isEqualTo(1);
            post.type(PostDescriptorFlyweight.FMA_PUT);
            assertThat(endpoint.postFma(post)).isZero();
            assertThat(take()).isEqualTo(CompletionQueue.EVENT);
            assertThat(arrived.getLong(0)).isZero();
            assertThatThrownBy(() -> new ShortMessageAttributes(1, 8).local(readable, 0))
                    .isInstanceOf(IllegalArgumentException.class);
        }
    }
}
