package dev.verbena.portals.transport;

import dev.verbena.staging.carrier.TransportStreamsContract;
import java.net.URI;

/** Streams of bytes over the Portals provider. */
class TransportStreamsOverPortalsTest extends TransportStreamsContract {
    @Override
    protected URI address(String number) {
        return URI.create("portals://carrier-" + number + "/1.21000");
    }
}
