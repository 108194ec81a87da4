package dev.verbena.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.shm.ShmTesting;
import dev.verbena.transport.Transport;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Slabs of a real region. */
@Timeout(60)
class SlabPoolTest {
    private Transport transport;
    private RegisteredRegion region;

    @BeforeEach
    void open() {
        transport = ShmTesting.open("slabs");
        region = transport.allocate(1000, RemoteDescriptor.REMOTE_ALL);
    }

    @AfterEach
    void close() {
        region.close();
        transport.close();
    }

    @Test
    void shouldGiveEverySlabOnceAndThenSayExhausted() {
        SlabPool pool = new SlabPool(region, 300);
        assertThat(pool.slabCount()).isEqualTo(3);
        Set<Long> offsets = new HashSet<>();
        for (int i = 0; i < 3; i++) {
            int slab = pool.take();
            offsets.add(pool.offset(slab));
            pool.buffer(slab).setMemory(0, 300, (byte) slab);
        }
        assertThat(offsets).containsExactlyInAnyOrder(0L, 300L, 600L);
        assertThat(pool.take()).isEqualTo(SlabPool.EXHAUSTED);
        assertThatThrownBy(pool::close)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("3 of 3");
        for (int slab = 0; slab < 3; slab++) {
            assertThat(region.buffer(pool.offset(slab) + 299, 1).getByte(0)).isEqualTo((byte) slab);
            pool.giveBack(slab);
        }
        pool.close();
        assertThatThrownBy(pool::take).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void shouldGiveTheWarmestSlabFirst() {
        SlabPool pool = new SlabPool(region, 100);
        int first = pool.take();
        int second = pool.take();
        pool.giveBack(first);
        assertThat(pool.take()).isEqualTo(first);
        pool.giveBack(first);
        pool.giveBack(second);
        pool.close();
    }

    @Test
    void shouldRefuseASlabThatIsNotOut() {
        SlabPool pool = new SlabPool(region, 100);
        int slab = pool.take();
        pool.giveBack(slab);
        assertThatThrownBy(() -> pool.giveBack(slab)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> pool.offset(10)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> pool.buffer(-1)).isInstanceOf(IllegalArgumentException.class);
        pool.close();
    }

    @Test
    void shouldRefuseRegionsThatHoldNoSlab() {
        assertThatThrownBy(() -> new SlabPool(region, 1001))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new SlabPool(region, 0))
                .isInstanceOf(IllegalArgumentException.class);
    }
}
