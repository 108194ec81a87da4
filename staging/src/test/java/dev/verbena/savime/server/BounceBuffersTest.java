package dev.verbena.savime.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.memory.OffHeapMemory;
import org.junit.jupiter.api.Test;

/** Memory to which a lost client may still write is nobody else's. */
class BounceBuffersTest {
    private static final String TRANSPORT = "a transport";

    private final BounceBuffers buffers = new BounceBuffers(4096, 1);

    @Test
    void shouldGiveNobodyWhatALostClientMayWrite() {
        OffHeapMemory held = buffers.take();
        held.acquire(TRANSPORT);
        buffers.drop(held);
        assertThat(buffers.take()).isNull();
        buffers.dropAgain();
        assertThat(buffers.hasHeld()).isTrue();
        assertThat(buffers.take()).isNull();
        held.release(TRANSPORT);
        buffers.dropAgain();
        assertThat(buffers.hasHeld()).isFalse();
        assertThat(held.isClosed()).isTrue();
        OffHeapMemory next = buffers.take();
        assertThat(next).isNotNull();
        buffers.giveBack(next);
        assertThat(buffers.take()).isSameAs(next);
        buffers.drop(next);
        assertThat(next.isClosed()).isTrue();
    }

    /** After the transport, which then holds nothing. */
    @Test
    void shouldCloseWhatWasHeld() {
        OffHeapMemory held = buffers.take();
        held.acquire(TRANSPORT);
        buffers.drop(held);
        held.release(TRANSPORT);
        buffers.close();
        assertThat(held.isClosed()).isTrue();
    }
}
