package dev.verbena.shm;

import dev.verbena.transport.TransportProcessContract;

/** Peers that are killed, stopped and restarted, over shared memory. */
class ShmProcessContractIT extends TransportProcessContract {
    @Override
    protected String scheme() {
        return "shm";
    }
}
