package dev.verbena.ugni;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.memory.OffHeapMemories;
import dev.verbena.memory.OffHeapMemory;
import java.nio.ByteBuffer;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Who owns what, and that every misuse is an exception. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class UgniLifecycleTest extends UgniPair {
    @Test
    void shouldRefuseToCloseADomainWithOpenObjects() {
        assertThatThrownBy(here::close)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("open objects")
                .hasMessageContaining("endpoint");
        assertThat(here.isClosed()).isFalse();
        posts.close();
        endpoint.close();
        local.close();
        from.close();
        source.close();
        here.close();
        here.close();
        assertThat(here.isClosed()).isTrue();
    }

    @Test
    void shouldRefuseEverythingAfterTheDomainWasClosed() {
        claim(PostDescriptorFlyweight.FMA_PUT, PostDescriptorFlyweight.GLOBAL_EVENT, 8);
        here.closeAll();
        for (ThrowingCallable call :
                new ThrowingCallable[] {
                    () -> endpoint.postFma(post),
                    () -> endpoint.postData(arrived, 0, 8),
                    () -> endpoint.testData(datagram),
                    () -> endpoint.unbind(),
                    () -> source.poll(),
                    () -> source.await(1),
                    () -> source.completed(done),
                    () -> local.address(),
                    () -> from.address(),
                    () -> from.buffer(0, 8),
                    () -> posts.claim(done),
                    () -> initiator.endpoint(null),
                    () -> initiator.completionQueue(8, 0),
                    () -> initiator.allocate(8),
                    () -> initiator.doorbell(),
                    () -> here.attach(0)
                }) {
            assertThatThrownBy(call)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("closed");
        }
        initiator.ring();
        assertThat(sent.capacity()).isZero();
        assertThatThrownBy(() -> post.type()).isInstanceOf(IndexOutOfBoundsException.class);
        endpoint.close();
        source.close();
        local.close();
        from.close();
        posts.close();
    }

    @Test
    void shouldForgetWhatIsInFlightWhenTheDomainIsClosedWithEverything() {
        claim(PostDescriptorFlyweight.RDMA_PUT, PostDescriptorFlyweight.GLOBAL_EVENT, 8);
        assertThat(endpoint.postRdma(post)).isZero();
        here.closeAll();
        assertThat(endpoint.isClosed()).isTrue();
        assertThat(posts.isClosed()).isTrue();
    }

    @Test
    void shouldRefuseOtherThreads() throws InterruptedException {
        for (ThrowingCallable call :
                new ThrowingCallable[] {
                    () -> source.poll(),
                    () -> endpoint.close(),
                    () -> here.closeAll(),
                    () -> posts.claim(post),
                    () -> initiator.allocate(64)
                }) {
            AtomicReference<Throwable> failure = new AtomicReference<>();
            Thread other =
                    new Thread(
                            () -> {
                                try {
                                    call.call();
                                } catch (Throwable e) {
                                    failure.set(e);
                                }
                            });
            other.start();
            other.join();
            assertThat(failure.get())
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("owned by thread");
        }
    }

    @Test
    void shouldWakeASleeperFromAnotherThread() throws InterruptedException {
        int seen = initiator.doorbell();
        Thread other = new Thread(initiator::ring);
        other.start();
        assertThat(initiator.await(seen, TimeUnit.SECONDS.toNanos(30))).isTrue();
        other.join();
        assertThat(initiator.await(initiator.doorbell(), 1)).isFalse();
    }

    @Test
    void shouldNotLeadADescriptorElsewhere() {
        assertThatThrownBy(() -> endpoint.postFma(new PostDescriptorFlyweight()))
                .hasMessageContaining("no descriptor");
        claim(PostDescriptorFlyweight.FMA_PUT, PostDescriptorFlyweight.GLOBAL_EVENT, 8);
        assertThat(back.postFma(post)).isEqualTo(-UgniCode.INVALID_PARAM);
        try (PostDescriptors others = initiator.postDescriptors(1)) {
            assertThatThrownBy(() -> others.release(post))
                    .isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> others.wrap(done, 1))
                    .isInstanceOf(IndexOutOfBoundsException.class);
            assertThat(others.claim(done)).isTrue();
            assertThat(others.claim(new PostDescriptorFlyweight())).isFalse();
            others.release(done);
            assertThatThrownBy(() -> others.release(done)).hasMessageContaining("free");
        }
        assertThatThrownBy(() -> endpoint.postFma(done)).hasMessageContaining("closed");
    }

    @Test
    void shouldRefuseAnEventThatWasAskedForAlready() {
        claim(PostDescriptorFlyweight.FMA_PUT, PostDescriptorFlyweight.GLOBAL_EVENT, 8);
        assertThat(source.completed(done)).isEqualTo(-UgniCode.INVALID_PARAM);
        assertThat(endpoint.postFma(post)).isZero();
        take();
        assertThat(source.completed(done)).isEqualTo(-UgniCode.INVALID_PARAM);
        assertThat(posts.inFlightCount()).isZero();
    }

    @Test
    @Tag("ugni-18")
    void shouldKeepAQueueThatIsUsed() {
        assertThatThrownBy(source::close).hasMessageContaining("used");
        assertThatThrownBy(destination::close).hasMessageContaining("used");
        endpoint.close();
        source.close();
        remote.close();
        destination.close();
    }

    @Test
    @Tag("ugni-28")
    void shouldRegisterMemoryOfAllKinds() {
        ByteBuffer direct = ByteBuffer.allocateDirect(999);
        OffHeapMemory memory = OffHeapMemories.allocate(4097);
        try (MemoryRegistration buffer = target.register(direct, Nic.READ_WRITE, null);
                MemoryRegistration whole = target.register(memory, Nic.READ_WRITE, null)) {
            put(buffer, 999 - 3, 3);
            assertThat(direct.get(998)).isEqualTo(sent.getByte(2));
            put(whole, 4096, 1);
            assertThat(memory.buffer(4096, 1).getByte(0)).isEqualTo(sent.getByte(0));
            assertThatThrownBy(memory::close).isInstanceOf(IllegalStateException.class);
        }
        memory.close();
        assertThatThrownBy(() -> target.register(ByteBuffer.allocate(8), 0, null))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> target.register(0, 8, 0, null))
                .isInstanceOf(IllegalArgumentException.class);
    }

    private void put(MemoryRegistration to, long offset, long length) {
        claim(PostDescriptorFlyweight.RDMA_PUT, PostDescriptorFlyweight.GLOBAL_EVENT, length)
                .remote(to.address() + offset, to.handle1(), to.handle2());
        assertThat(endpoint.postRdma(post)).isZero();
        assertThat(take()).isEqualTo(CompletionQueue.EVENT);
        posts.release(post);
    }

    @Test
    void shouldReleaseMemoryThatWasRegisteredWhenTheDomainGoes() {
        OffHeapMemory memory = OffHeapMemories.allocate(64);
        target.register(memory, Nic.READ_WRITE, null);
        there.closeAll();
        memory.close();
        assertThat(memory.isClosed()).isTrue();
    }

    @Test
    @Tag("ugni-8")
    @Tag("ugni-9")
    @Tag("ugni-10")
    void shouldAttachEachDeviceOnce() {
        assertThatThrownBy(() -> here.attach(0)).hasMessageContaining("INVALID_STATE");
        assertThat(target.address()).isEqualTo(initiator.address());
        assertThat(CommunicationDomain.deviceAddress(0)).isEqualTo(initiator.address());
    }

    @Test
    void shouldNotTellOfAFailureBefore() {
        long tooMuch = 1L << 47;
        assertThatThrownBy(() -> initiator.allocate(tooMuch))
                .isInstanceOf(UgniException.class)
                .hasMessageContaining("; GNI_ExtMemAlloc: ")
                .hasMessageContaining("2^46");
        assertThatThrownBy(() -> endpoint.bind(1, 1)).hasMessageEndingWith(" for " + endpoint);
        assertThatThrownBy(() -> here.attach(0)).hasMessageEndingWith(here + ", device 0");
    }

    @Test
    @Tag("ugni-7")
    @Tag("ugni-11")
    @Tag("ugni-108")
    void shouldKnowTheDevices() {
        assertThat(CommunicationDomain.deviceCount()).isPositive();
        assertThatThrownBy(() -> here.attach(77)).hasMessageContaining("NO_MATCH");
        assertThatThrownBy(() -> CommunicationDomain.deviceAddress(77))
                .hasMessageContaining("NO_MATCH");
        assertThatThrownBy(() -> CommunicationDomain.create(1, 256, 1, 0))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(
                        () ->
                                CommunicationDomain.create(
                                        1, 1, 1, CommunicationDomain.MODE_ERR_ALL_KILL))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    @Tag("ugni-13")
    void shouldNotMeetDomainsWithAnotherCookie() {
        CommunicationDomain stranger = CommunicationDomain.create(1, PTAG, cookie + 7777, 0);
        try {
            Nic nic = stranger.attach(0);
            CompletionQueue queue = nic.completionQueue(8, CompletionQueue.NO_BLOCK);
            Endpoint endpoint = nic.endpoint(queue).bind(target.address(), target.instance());
            PostDescriptors own = nic.postDescriptors(1);
            UgniMemory memory = nic.allocate(64);
            own.claim(post);
            post.type(PostDescriptorFlyweight.FMA_PUT)
                    .cqMode(PostDescriptorFlyweight.GLOBAL_EVENT)
                    .local(memory, 0)
                    .remote(remote.address(), remote.handle1(), remote.handle2())
                    .length(8);
            assertThat(endpoint.postFma(post)).isZero();
            assertThat(queue.poll()).isEqualTo(CompletionQueue.FAILED);
            assertThat(queue.completed(done)).isEqualTo(-UgniCode.TRANSACTION_ERROR);
            endpoint.postData(arrived, 0, 8);
            back.postData(arrived, 0, 8);
            assertThat(back.testData(datagram)).isEqualTo(DatagramState.PENDING);
            assertThat(endpoint.testData(datagram)).isEqualTo(DatagramState.PENDING);
        } finally {
            stranger.closeAll();
        }
    }

    @Test
    void shouldNotRegisterMemoryThatGoesWithAnotherDomain() {
        assertThatThrownBy(() -> initiator.register(to, Nic.READ_WRITE, null))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("another NIC handle");
    }

    @Test
    void shouldNotGiveOutADescriptorThatWasPostedUnclaimed() {
        posts.wrap(post, 0);
        post.type(PostDescriptorFlyweight.RDMA_PUT)
                .cqMode(PostDescriptorFlyweight.GLOBAL_EVENT)
                .local(local, 0)
                .remote(remote.address(), remote.handle1(), remote.handle2())
                .length(8)
                .postId(5);
        assertThat(endpoint.postRdma(post)).isZero();
        for (int i = 1; i < posts.count(); i++) {
            assertThat(posts.claim(done)).isTrue();
            assertThat(done.index()).isNotZero();
        }
        assertThat(posts.claim(done)).isFalse();
        assertThat(take()).isEqualTo(CompletionQueue.EVENT);
        assertThat(done.postId()).isEqualTo(5);
        assertThat(posts.claim(done)).isTrue();
        local.close();
    }

    @Test
    void shouldRefusePoolsThatOneBufferDoesNotShow() {
        assertThatThrownBy(() -> initiator.postDescriptors(Integer.MAX_VALUE))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("outside 1 to");
        assertThatThrownBy(() -> initiator.postDescriptors(0))
                .isInstanceOf(IllegalArgumentException.class);
    }
}
