package dev.verbena.dart;

import org.junit.jupiter.api.Test;

/** Streams to the receiver over the shm provider. */
class DartCarriedStreamOverShmTest extends DartCarriedStreamContract {
    @Override
    protected String scheme() {
        return "shm";
    }

    @Test
    void shouldSendAgainWhatWasDamaged() throws Exception {
        requireDamageIsSentAgain();
    }
}
