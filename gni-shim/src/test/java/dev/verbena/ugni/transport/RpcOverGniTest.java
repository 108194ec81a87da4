package dev.verbena.ugni.transport;

import dev.verbena.SampledByDay;
import dev.verbena.nessie.rpc.RpcContract;

/** Remote procedures over the uGNI provider. */
@SampledByDay(parts = 3)
class RpcOverGniTest extends RpcContract {
    @Override
    protected String scheme() {
        return "gni";
    }
}
