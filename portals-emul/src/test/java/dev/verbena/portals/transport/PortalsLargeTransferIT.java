package dev.verbena.portals.transport;

import dev.verbena.SampledByDay;
import dev.verbena.transport.LargeTransferContract;

/** Gigabytes in one transfer over Portals. */
@SampledByDay(parts = 2)
class PortalsLargeTransferIT extends LargeTransferContract {
    @Override
    protected String scheme() {
        return "portals";
    }
}
