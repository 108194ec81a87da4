package dev.verbena.ugni.transport;

import dev.verbena.transport.Transport;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.TransportSequenceProperties;
import dev.verbena.transport.Transports;

/** Random sequences over uGNI. */
class GniSequencePropertiesTest extends TransportSequenceProperties {
    @Override
    protected Transport open(TransportContext context) {
        return Transports.open("gni", context);
    }
}
