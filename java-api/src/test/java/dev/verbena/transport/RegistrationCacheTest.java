package dev.verbena.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.memory.OffHeapMemories;
import dev.verbena.memory.OffHeapMemory;
import dev.verbena.memory.RegisteredRegion;
import dev.verbena.memory.RemoteDescriptor;
import dev.verbena.shm.ShmTesting;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The cache over a real transport. */
@Timeout(60)
class RegistrationCacheTest {
    private Transport transport;
    private OffHeapMemory first;
    private OffHeapMemory second;

    @BeforeEach
    void open() {
        transport = ShmTesting.open("cache");
        first = OffHeapMemories.allocate(4096);
        second = OffHeapMemories.allocate(4096);
    }

    @AfterEach
    void close() {
        transport.close();
        first.close();
        second.close();
    }

    @Test
    void shouldRegisterOnceForManyBorrows() {
        try (RegistrationCache cache = new RegistrationCache(transport, 4)) {
            RegisteredRegion region = cache.borrow(first, RemoteDescriptor.REMOTE_ALL);
            assertThat(cache.borrow(first, RemoteDescriptor.REMOTE_READ)).isSameAs(region);
            cache.giveBack(region);
            cache.giveBack(region);
            assertThat(cache.borrow(first, RemoteDescriptor.REMOTE_WRITE)).isSameAs(region);
            cache.giveBack(region);
            assertThat(cache.missCount()).isEqualTo(1);
            assertThat(cache.hitCount()).isEqualTo(2);
        }
    }

    @Test
    void shouldRegisterAgainForRightsThatAreMissing() {
        try (RegistrationCache cache = new RegistrationCache(transport, 4)) {
            RegisteredRegion read = cache.borrow(first, RemoteDescriptor.REMOTE_READ);
            RegisteredRegion write = cache.borrow(first, RemoteDescriptor.REMOTE_WRITE);
            assertThat(write).isNotSameAs(read);
            assertThat(write.rights()).isEqualTo(RemoteDescriptor.REMOTE_WRITE);
            cache.giveBack(read);
            cache.giveBack(write);
        }
    }

    @Test
    void shouldDropTheLeastRecentlyUsedWhenTooManyAreIdle() {
        try (RegistrationCache cache = new RegistrationCache(transport, 1)) {
            RegisteredRegion one = cache.borrow(first, RemoteDescriptor.REMOTE_READ);
            RegisteredRegion two = cache.borrow(second, RemoteDescriptor.REMOTE_READ);
            cache.giveBack(one);
            cache.giveBack(two);
            assertThat(one.isClosed()).isTrue();
            assertThat(two.isClosed()).isFalse();
            assertThat(cache.registrationCount()).isEqualTo(1);
        }
    }

    @Test
    void shouldHoldTheMemoryUntilInvalidated() {
        try (RegistrationCache cache = new RegistrationCache(transport, 4)) {
            RegisteredRegion region = cache.borrow(first, RemoteDescriptor.REMOTE_READ);
            assertThatThrownBy(() -> cache.invalidate(first))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("lent");
            cache.giveBack(region);
            assertThatThrownBy(first::close).isInstanceOf(IllegalStateException.class);
            cache.invalidate(first);
            assertThat(region.isClosed()).isTrue();
            first.close();
            assertThatThrownBy(() -> cache.giveBack(region))
                    .isInstanceOf(IllegalArgumentException.class);
        }
    }

    @Test
    void shouldRefuseToCloseWhileLent() {
        RegistrationCache cache = new RegistrationCache(transport, 4);
        RegisteredRegion region = cache.borrow(first, RemoteDescriptor.REMOTE_READ);
        assertThatThrownBy(cache::close).isInstanceOf(IllegalStateException.class);
        assertThat(region.isClosed()).isFalse();
        cache.giveBack(region);
        cache.close();
        assertThat(region.isClosed()).isTrue();
    }
}
