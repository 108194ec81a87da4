package dev.verbena.ugni.transport;

import dev.verbena.nessie.rpc.RpcContract;

/** Remote procedures over the uGNI provider. */
class RpcOverGniTest extends RpcContract {
    @Override
    protected String scheme() {
        return "gni";
    }
}
