package dev.verbena.transport;

import dev.verbena.SampledByDay;

/** The suite against the model: what fails here is wrong in the suite. */
@SampledByDay(isWholeAtFirst = true, parts = 3)
class ModelTransportContractTest extends TransportContract {
    private final ModelNetwork network = new ModelNetwork();

    @Override
    protected String scheme() {
        return "model";
    }

    @Override
    protected Transport open(TransportContext context) {
        return network.open(context);
    }
}
