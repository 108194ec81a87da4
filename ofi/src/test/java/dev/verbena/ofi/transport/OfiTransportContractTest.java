package dev.verbena.ofi.transport;

import dev.verbena.SampledByDay;
import dev.verbena.transport.TransportContract;
import org.junit.jupiter.api.extension.ExtendWith;

/** The contract's suite over libfabric's provider tcp. */
@ExtendWith(NeedsLibfabric.class)
@SampledByDay(isWholeAtFirst = true, parts = 3)
class OfiTransportContractTest extends TransportContract {
    @Override
    protected String scheme() {
        return "ofi";
    }
}
