package dev.verbena.ugni;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.AllocationMeter;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Posting, polling and messages allocate nothing: 0 bytes in 100,000 rounds. */
@Timeout(120)
class UgniAllocationTest extends UgniPair {
    private static final int ROUNDS = 100_000;

    @Test
    void shouldAllocateNothingWhilePostingAndPolling() {
        AllocationMeter.requireNone(
                () -> {
                    for (int i = 0; i < ROUNDS; i++) {
                        roundOfPosts(i);
                    }
                });
    }

    private void roundOfPosts(int i) {
        boolean isFma = (i & 1) == 0;
        posts.claim(post);
        post.type(isFma ? PostDescriptorFlyweight.FMA_PUT : PostDescriptorFlyweight.RDMA_PUT)
                .cqMode(PostDescriptorFlyweight.GLOBAL_EVENT | PostDescriptorFlyweight.REMOTE_EVENT)
                .postId(i)
                .local(local, 8)
                .remote(remote.address(), remote.handle1(), remote.handle2())
                .length(64);
        require(0, isFma ? endpoint.postFma(post) : endpoint.postRdma(post));
        require(CompletionQueue.EVENT, source.poll());
        require(0, source.completed(done));
        require(i, (int) done.postId());
        require(2, CompletionEvent.instance(source.event()));
        require(CompletionQueue.EVENT, destination.poll());
        require(CompletionQueue.EMPTY, destination.poll());
        posts.release(done);
    }

    @Test
    void shouldAllocateNothingForMessages() {
        ShortMessageAttributes near = new ShortMessageAttributes(8, 64).local(local, 0);
        ShortMessageAttributes far = new ShortMessageAttributes(8, 64).local(remote, 0);
        sent.setMemory(0, LENGTH, (byte) 0);
        ShortMessageMailbox sender = endpoint.mailbox(near, far);
        ShortMessageMailbox receiver = back.mailbox(far, near);
        UnsafeBuffer heap = new UnsafeBuffer(new byte[64]);
        UnsafeBuffer direct = Nic.aligned(64);
        AllocationMeter.requireNone(
                () -> {
                    for (int i = 0; i < ROUNDS; i++) {
                        direct.putInt(0, i);
                        require(0, sender.send(direct, 0, 16, heap, 0, 16, i, i & 63));
                        require(CompletionQueue.EVENT, source.poll());
                        require(CompletionQueue.EVENT, destination.poll());
                        require(ShortMessageMailbox.MESSAGE, receiver.next());
                        require(i, receiver.message().getInt(0));
                        require(0, receiver.release());
                    }
                });
    }

    private static void require(int expected, int found) {
        if (found != expected) {
            throw new AssertionError("expected " + expected + ", found " + found);
        }
    }

    @Test
    void shouldCountTheRoundsOfATest() {
        roundOfPosts(1);
        assertThat(posts.inFlightCount()).isZero();
    }
}
