package dev.verbena.portals.transport;

import dev.verbena.nessie.rpc.RpcContract;

/** Remote procedures over the Portals provider. */
class RpcOverPortalsTest extends RpcContract {
    @Override
    protected String scheme() {
        return "portals";
    }
}
