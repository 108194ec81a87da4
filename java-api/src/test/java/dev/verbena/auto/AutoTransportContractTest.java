package dev.verbena.auto;

import dev.verbena.SampledByDay;
import dev.verbena.transport.Transport;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.TransportContract;

/** The contract's suite over {@code auto} where peers share memory; without libfabric here. */
@SampledByDay(parts = 3)
class AutoTransportContractTest extends TransportContract {
    @Override
    protected String scheme() {
        return "auto";
    }

    @Override
    protected Transport open(TransportContext context) {
        return super.open(context.option(AutoTransportProvider.USE_OPTION, "shm"));
    }
}
