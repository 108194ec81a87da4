package dev.verbena.portals.transport;

import dev.verbena.transport.TransportProcessContract;
import org.junit.jupiter.api.Tag;

/** Peers that are killed, stopped and restarted, over the Portals provider. */
@Tag("each-jdk")
class PortalsProcessContractIT extends TransportProcessContract {
    @Override
    protected String scheme() {
        return "portals";
    }
}
