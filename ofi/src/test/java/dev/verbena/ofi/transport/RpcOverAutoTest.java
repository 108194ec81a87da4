package dev.verbena.ofi.transport;

import dev.verbena.SampledByDay;
import dev.verbena.nessie.rpc.RpcContract;
import org.junit.jupiter.api.extension.ExtendWith;

/** Remote procedures over {@code auto} with both parts. */
@SampledByDay(parts = 3)
@ExtendWith(NeedsLibfabric.class)
class RpcOverAutoTest extends RpcContract {
    @Override
    protected String scheme() {
        return "auto";
    }
}
