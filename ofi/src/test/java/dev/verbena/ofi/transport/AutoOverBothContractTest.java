package dev.verbena.ofi.transport;

import dev.verbena.SampledByDay;
import dev.verbena.transport.TransportContract;
import org.junit.jupiter.api.extension.ExtendWith;

/** The contract's suite over {@code auto} with both parts, where peers share memory. */
@ExtendWith(NeedsLibfabric.class)
@SampledByDay
class AutoOverBothContractTest extends TransportContract {
    @Override
    protected String scheme() {
        return "auto";
    }
}
