package dev.verbena.ofi.transport;

import dev.verbena.transport.TransportContract;

/** The contract's suite over libfabric's provider tcp. */
class OfiTransportContractTest extends TransportContract {
    @Override
    protected String scheme() {
        return "ofi";
    }
}
