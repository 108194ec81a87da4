package dev.verbena.verbs.transport;

import dev.verbena.transport.Transport;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.TransportContract;
import org.junit.jupiter.api.Tag;

/** The contract over a device, with requests as long as the port can. */
@Tag("verbs-device")
class VerbsTransportContractIT extends TransportContract {
    @Override
    protected String scheme() {
        return VerbsTransportProvider.SCHEME;
    }

    @Override
    protected Transport open(TransportContext context) {
        return VerbsTesting.open(context);
    }

    /** None is; longer ones are sent by {@link VerbsSegmentsContractIT}. */
    @Override
    protected int lengthAboveSegmentLimit() {
        return (1 << 20) + 11;
    }

    @Override
    protected int times(int count) {
        return VerbsTesting.times(count);
    }
}
