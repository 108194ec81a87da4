package dev.verbena.ugni.transport;

import dev.verbena.transport.FaultsContract;
import dev.verbena.transport.Transport;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.Transports;

/** Faults over uGNI. */
class FaultyGniTest extends FaultsContract {
    @Override
    protected Transport open(TransportContext context) {
        return Transports.open("gni", context);
    }
}
