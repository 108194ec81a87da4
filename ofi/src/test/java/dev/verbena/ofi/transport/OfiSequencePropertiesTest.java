package dev.verbena.ofi.transport;

import dev.verbena.transport.Transport;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.TransportSequenceProperties;
import dev.verbena.transport.Transports;
import org.junit.jupiter.api.extension.ExtendWith;

/** Random sequences over libfabric. */
@ExtendWith(NeedsLibfabric.class)
class OfiSequencePropertiesTest extends TransportSequenceProperties {
    @Override
    protected Transport open(TransportContext context) {
        return Transports.open("ofi", context);
    }
}
