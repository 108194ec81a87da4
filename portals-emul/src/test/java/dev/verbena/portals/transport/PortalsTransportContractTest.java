package dev.verbena.portals.transport;

import dev.verbena.SampledByDay;
import dev.verbena.transport.TransportContract;

/** The contract's suite over the Portals provider. */
@SampledByDay(isWholeAtFirst = true, parts = 3)
class PortalsTransportContractTest extends TransportContract {
    @Override
    protected String scheme() {
        return "portals";
    }
}
