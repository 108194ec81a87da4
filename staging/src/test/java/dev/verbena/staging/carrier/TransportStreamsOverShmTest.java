package dev.verbena.staging.carrier;

import java.net.URI;
import org.junit.jupiter.api.Test;

/** Streams of bytes over the shm provider. */
class TransportStreamsOverShmTest extends TransportStreamsContract {
    @Override
    protected URI address(String number) {
        return URI.create("shm://carrier-" + number + "/receiver");
    }

    @Test
    void shouldAllocateNothingPerCall() {
        requireNoAllocation();
    }
}
