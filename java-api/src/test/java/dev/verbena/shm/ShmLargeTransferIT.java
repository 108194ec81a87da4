package dev.verbena.shm;

import dev.verbena.transport.LargeTransferContract;

/** Gigabytes in one transfer over shared memory. */
class ShmLargeTransferIT extends LargeTransferContract {
    @Override
    protected String scheme() {
        return "shm";
    }
}
