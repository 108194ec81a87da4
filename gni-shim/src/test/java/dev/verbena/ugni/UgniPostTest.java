package dev.verbena.ugni;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Posts through the Java objects: what moves, what is told, what is refused. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class UgniPostTest extends UgniPair {
    private static final int GLOBAL = PostDescriptorFlyweight.GLOBAL_EVENT;
    private static final int REMOTE = PostDescriptorFlyweight.REMOTE_EVENT;

    @Test
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
    void shouldWriteIntoThePeersQueue() {
        claim(PostDescriptorFlyweight.CQWRITE, GLOBAL, 0).cqWriteValue(0x1234_5678_9ABCL);
        assertThat(endpoint.postCqWrite(post)).isZero();
        assertThat(take()).isEqualTo(CompletionQueue.EVENT);
        assertThat(destination.await(1000)).isEqualTo(CompletionQueue.EVENT);
        assertThat(CompletionEvent.data(destination.event())).isEqualTo(0x1234_5678_9ABCL);
    }

    @Test
    void shouldFailByAnEventWhenThePeersMemoryEnds() {
        claim(PostDescriptorFlyweight.RDMA_PUT, GLOBAL, 16)
                .remoteAddress(remote.address() + LENGTH - 8);
        assertThat(endpoint.postRdma(post)).isZero();
        assertThat(take()).isEqualTo(CompletionQueue.FAILED);
        assertThat(done.status()).isEqualTo(UgniCode.TRANSACTION_ERROR);
        assertThat(CompletionEvent.status(source.event())).isNotZero();
        assertThat(source.errorText()).contains("MEM_BOUNDS_ERR");
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
}
