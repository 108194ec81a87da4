package dev.verbena.shm;

import dev.verbena.SampledByDay;
import dev.verbena.transport.CheckingTransport;
import dev.verbena.transport.Transport;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.TransportContract;
import dev.verbena.transport.Transports;

/** The suite over shared memory, watched by the checking decorator. */
@SampledByDay(parts = 3)
class CheckedShmContractTest extends TransportContract {
    @Override
    protected String scheme() {
        return "shm";
    }

    @Override
    protected Transport open(TransportContext context) {
        // A violation goes where the transport's own errors go, and fails the test at its end.
        return new CheckingTransport(Transports.open("shm", context), context.errorHandler());
    }
}
