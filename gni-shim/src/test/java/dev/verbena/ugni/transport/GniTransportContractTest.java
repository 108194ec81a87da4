package dev.verbena.ugni.transport;

import dev.verbena.SampledByDay;
import dev.verbena.transport.TransportContract;

/** The contract's suite over the uGNI provider. */
@SampledByDay(isWholeAtFirst = true, parts = 3)
class GniTransportContractTest extends TransportContract {
    @Override
    protected String scheme() {
        return "gni";
    }
}
