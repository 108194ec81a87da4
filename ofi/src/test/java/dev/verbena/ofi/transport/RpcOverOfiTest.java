package dev.verbena.ofi.transport;

import dev.verbena.SampledByDay;
import dev.verbena.nessie.rpc.RpcContract;
import org.junit.jupiter.api.extension.ExtendWith;

/** Remote procedures over libfabric's provider tcp. */
@SampledByDay(parts = 3)
@ExtendWith(NeedsLibfabric.class)
class RpcOverOfiTest extends RpcContract {
    @Override
    protected String scheme() {
        return "ofi";
    }
}
