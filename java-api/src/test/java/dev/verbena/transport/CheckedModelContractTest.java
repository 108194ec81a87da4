package dev.verbena.transport;

/** The suite through the checking and the tracing decorator: neither may change anything. */
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
