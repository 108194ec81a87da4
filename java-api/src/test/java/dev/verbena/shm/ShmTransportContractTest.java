package dev.verbena.shm;

import dev.verbena.transport.TransportContract;

/** The transport contract over shared memory. */
class ShmTransportContractTest extends TransportContract {
    @Override
    protected String scheme() {
        return "shm";
    }
}
