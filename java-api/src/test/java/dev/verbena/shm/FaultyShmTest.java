package dev.verbena.shm;

import dev.verbena.transport.FaultsContract;
import dev.verbena.transport.Transport;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.Transports;

/** Faults over shared memory. */
class FaultyShmTest extends FaultsContract {
    @Override
    protected Transport open(TransportContext context) {
        return Transports.open("shm", context);
    }
}
