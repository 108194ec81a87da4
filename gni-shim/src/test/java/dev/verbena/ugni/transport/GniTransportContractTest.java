package dev.verbena.ugni.transport;

import dev.verbena.transport.TransportContract;

/** The contract's suite over the uGNI provider. */
class GniTransportContractTest extends TransportContract {
    @Override
    protected String scheme() {
        return "gni";
    }
}
