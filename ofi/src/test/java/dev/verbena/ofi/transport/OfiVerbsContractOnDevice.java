package dev.verbena.ofi.transport;

import dev.verbena.dart.SampledByDay;
import dev.verbena.transport.Transport;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.TransportContract;
import org.junit.jupiter.api.Tag;

/**
 * The contract's suite over libfabric's provider {@code verbs;ofi_rxm}. Part of no tier yet: {@code
 * ./verbena rdma-vm --write LOGS -- ci/rdma-vm/device-tests LOGS --tag=ofi-verbs}.
 */
@Tag("ofi-verbs")
@SampledByDay
class OfiVerbsContractOnDevice extends TransportContract {
    @Override
    protected String scheme() {
        return OfiTransportProvider.SCHEME;
    }

    @Override
    protected Transport open(TransportContext context) {
        return OfiVerbs.open(context);
    }

    @Override
    protected int lengthAboveSegmentLimit() {
        return (1 << 20) + 11;
    }

    @Override
    protected int times(int count) {
        return OfiVerbs.times(count);
    }
}
