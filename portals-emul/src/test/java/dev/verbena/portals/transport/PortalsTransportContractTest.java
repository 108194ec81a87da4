package dev.verbena.portals.transport;

import dev.verbena.transport.TransportContract;

/** The contract's suite over the Portals provider. */
class PortalsTransportContractTest extends TransportContract {
    @Override
    protected String scheme() {
        return "portals";
    }
}
