package dev.verbena.portals.transport;

import dev.verbena.transport.LargeTransferContract;

/** Gigabytes in one transfer over Portals. */
class PortalsLargeTransferIT extends LargeTransferContract {
    @Override
    protected String scheme() {
        return "portals";
    }
}
