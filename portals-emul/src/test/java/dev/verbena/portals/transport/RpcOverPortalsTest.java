package dev.verbena.portals.transport;

import dev.verbena.SampledByDay;
import dev.verbena.nessie.rpc.RpcContract;

/** Remote procedures over the Portals provider. */
@SampledByDay(parts = 3)
class RpcOverPortalsTest extends RpcContract {
    @Override
    protected String scheme() {
        return "portals";
    }
}
