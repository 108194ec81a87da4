package dev.verbena.transport;

import dev.verbena.SampledByDay;

/** The suite through the checking decorator, which may change nothing. */
@SampledByDay(parts = 3)
class CheckedModelContractTest extends TransportContract {
    private final ModelNetwork network = new ModelNetwork();

    @Override
    protected String scheme() {
        return "model";
    }

    @Override
    protected Transport open(TransportContext context) {
        return new CheckingTransport(network.open(context), errors::add);
    }
}
