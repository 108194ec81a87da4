package dev.verbena.verbs.transport;

import dev.verbena.transport.OneSidedContract;
import dev.verbena.transport.Transport;
import dev.verbena.transport.TransportContext;
import org.junit.jupiter.api.Tag;

/** The contract over a device, its puts and gets in several requests each. */
@Tag("verbs-device")
class VerbsSegmentsContractIT extends OneSidedContract {
    @Override
    protected String scheme() {
        return VerbsTransportProvider.SCHEME;
    }

    @Override
    protected Transport open(TransportContext context) {
        return VerbsTesting.open(context.option("segmentLengthMax", "262144"));
    }

    @Override
    protected int lengthAboveSegmentLimit() {
        return (1 << 20) + (1 << 18) + 5;
    }

    @Override
    protected int times(int count) {
        return VerbsTesting.times(count);
    }
}
