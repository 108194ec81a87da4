package dev.verbena.ugni.transport;

import dev.verbena.transport.LargeTransferContract;

/** Gigabytes in one transfer over uGNI. */
class GniLargeTransferIT extends LargeTransferContract {
    @Override
    protected String scheme() {
        return "gni";
    }
}
