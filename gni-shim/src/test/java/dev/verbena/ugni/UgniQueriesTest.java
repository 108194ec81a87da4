package dev.verbena.ugni;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What can be asked, errors that are subscribed to, and registrations of several regions. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class UgniQueriesTest extends UgniPair {
    private static final int GLOBAL = PostDescriptorFlyweight.GLOBAL_EVENT;
    private static final int MDD = 1;

    @Test
    @Tag("ugni-107")
    @Tag("ugni-109")
    void shouldTellOfLibraryAndDevices() {
        assertThat(CommunicationDomain.version()).isEqualTo(0x005d0102);
        assertThat(CommunicationDomain.isAries()).isFalse();
        assertThat(CommunicationDomain.ptagOf(0, 1234))
                .isEqualTo(CommunicationDomain.ptagOf(0, 1234))
                .isBetween(3, 253);
        assertThat(CommunicationDomain.deviceResource(0, MDD)).hasSize(4);
        assertThatThrownBy(() -> CommunicationDomain.deviceResource(0, 99))
                .isInstanceOf(UgniException.class);
        assertThat(CommunicationDomain.library()).isEqualTo("builtin");
        assertThat(initiator.statistic(0)).isZero();
        initiator.resetStatistic(0);
        assertThatThrownBy(() -> initiator.statistic(99)).isInstanceOf(UgniException.class);
        assertThatThrownBy(() -> initiator.resetStatistic(-1)).isInstanceOf(UgniException.class);
    }

    @Test
    @Tag("ugni-29")
    void shouldTellWhatIsReadOnly() {
        assertThat(local.isReadOnly()).isFalse();
        try (MemoryRegistration readable = initiator.register(from, Nic.READ_ONLY, null)) {
            assertThat(readable.isReadOnly()).isTrue();
        }
    }

    @Test
    @Tag("ugni-33")
    void shouldRunOnFromOneRegionToTheNext() {
        long[] addresses = {to.address() + 4096, to.address()};
        try (MemoryRegistration both =
                target.registerSegments(addresses, new long[] {16, 32}, 0, null)) {
            assertThat(both.address()).isZero();
            assertThat(both.length()).isEqualTo(48);
            claim(PostDescriptorFlyweight.RDMA_PUT, GLOBAL, 32)
                    .remote(0, both.handle1(), both.handle2());
            assertThat(endpoint.postRdma(post)).isZero();
            assertThat(take()).isEqualTo(CompletionQueue.EVENT);
            assertThat(arrived.getByte(4096 + 15)).isEqualTo((byte) 16);
            assertThat(arrived.getByte(4096 + 16)).isZero();
            assertThat(arrived.getByte(0)).isEqualTo((byte) 17);
            assertThat(arrived.getByte(16)).isZero();
        }
        assertThatThrownBy(() -> target.registerSegments(addresses, new long[] {1}, 0, null))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> target.registerSegments(new long[] {0}, new long[] {1}, 0, null))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void shouldNotReadOffsetsOfSeveralRegionsAsAddresses() {
        long[] addresses = {from.address() + 4096, from.address()};
        try (MemoryRegistration both =
                initiator.registerSegments(addresses, new long[] {16, 32}, 0, null)) {
            claim(PostDescriptorFlyweight.FMA_PUT, GLOBAL, 8).local(both, 8);
            assertThat(endpoint.postFma(post)).isEqualTo(-UgniCode.INVALID_PARAM);
            post.type(PostDescriptorFlyweight.RDMA_PUT);
            assertThat(endpoint.postRdma(post)).isZero();
            assertThat(take()).isEqualTo(CompletionQueue.EVENT);
            assertThat(arrived.getLong(0)).isEqualTo(sent.getLong(4096 + 8));
            assertThatThrownBy(() -> new ShortMessageAttributes(1, 8).local(both, 0))
                    .isInstanceOf(IllegalArgumentException.class);
        }
    }

    @Test
    void shouldTellErrorsToWhoeverSubscribed() {
        try (ErrorSubscription errors = initiator.errors(ErrorSubscription.ALL, 4)) {
            assertThat(errors.next()).isFalse();
            claim(PostDescriptorFlyweight.RDMA_PUT, GLOBAL, 8)
                    .remoteAddress(remote.address() + LENGTH);
            assertThat(endpoint.postRdma(post)).isZero();
            assertThat(take()).isEqualTo(CompletionQueue.FAILED);
            assertThat(errors.next()).isTrue();
            assertThat(errors.code()).isEqualTo(CompletionEvent.status(source.event()));
            assertThat(errors.category()).isEqualTo(ErrorSubscription.TRANSACTION);
            assertThat(errors.ptag()).isEqualTo(PTAG);
            assertThat(errors.serial()).isEqualTo(1);
            assertThat(errors.timestampNs()).isPositive();
            assertThat(errors.mask(0)).isEqualTo(ErrorSubscription.ALL);
            assertThat(endpoint.postRdma(post)).isZero();
            take();
            assertThat(errors.next()).isFalse();
        }
        ErrorSubscription left = initiator.errors(ErrorSubscription.ALL, 0);
        here.closeAll();
        assertThatThrownBy(left::next).hasMessageContaining("closed");
        left.close();
    }
}
