package dev.verbena.ofi.transport;

import dev.verbena.transport.FaultsContract;
import dev.verbena.transport.Transport;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.Transports;
import org.junit.jupiter.api.extension.ExtendWith;

/** Faults over libfabric. */
@ExtendWith(NeedsLibfabric.class)
class FaultyOfiTest extends FaultsContract {
    @Override
    protected Transport open(TransportContext context) {
        return Transports.open("ofi", context);
    }
}
