package dev.verbena.transport;

/** The suite through the checking decorator, which may change nothing. */
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
