package dev.verbena.ugni.transport;

import dev.verbena.SampledByDay;
import dev.verbena.transport.CheckingTransport;
import dev.verbena.transport.Transport;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.TransportContract;
import dev.verbena.transport.Transports;

/** The suite over uGNI, watched by the checking decorator. */
@SampledByDay(parts = 3)
class CheckedGniContractTest extends TransportContract {
    @Override
    protected String scheme() {
        return "gni";
    }

    @Override
    protected Transport open(TransportContext context) {
        // A violation goes where the transport's own errors go, and fails the test at its end.
        return new CheckingTransport(Transports.open("gni", context), context.errorHandler());
    }
}
