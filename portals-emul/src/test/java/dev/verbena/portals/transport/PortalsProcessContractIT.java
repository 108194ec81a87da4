package dev.verbena.portals.transport;

import dev.verbena.transport.TransportProcessContract;

/** Peers that are killed, stopped and restarted, over the Portals provider. */
class PortalsProcessContractIT extends TransportProcessContract {
    @Override
    protected String scheme() {
        return "portals";
    }
}
