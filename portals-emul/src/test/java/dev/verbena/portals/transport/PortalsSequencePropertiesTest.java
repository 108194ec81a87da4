package dev.verbena.portals.transport;

import dev.verbena.transport.Transport;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.TransportSequenceProperties;
import dev.verbena.transport.Transports;

/** Random sequences over Portals. */
class PortalsSequencePropertiesTest extends TransportSequenceProperties {
    @Override
    protected Transport open(TransportContext context) {
        return Transports.open("portals", context);
    }
}
