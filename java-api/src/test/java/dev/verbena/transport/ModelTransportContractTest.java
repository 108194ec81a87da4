package dev.verbena.transport;

/** The suite against the model: what fails here is wrong in the suite. */
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
