package dev.verbena.ofi.transport;

import dev.verbena.dart.SampledByDay;
import dev.verbena.transport.Transport;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.TransportContract;
import org.junit.jupiter.api.extension.ExtendWith;

/** The contract's suite where only the owner's calls make progress. */
@SampledByDay
@ExtendWith(NeedsLibfabric.class)
class OfiCallerContractTest extends TransportContract {
    @Override
    protected String scheme() {
        return "ofi";
    }

    @Override
    protected Transport open(TransportContext context) {
        return super.open(context.option(OfiTransportProvider.PROGRESS_OPTION, "caller"));
    }
}
