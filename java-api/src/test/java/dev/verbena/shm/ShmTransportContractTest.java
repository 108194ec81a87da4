package dev.verbena.shm;

import dev.verbena.transport.Transport;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.TransportContract;

/**
 * The transport contract over shared memory; {@code -Dverbena.foreignMemory=bounce} for emulators
 * without cross-memory attach.
 */
class ShmTransportContractTest extends TransportContract {
    private static final String FOREIGN = System.getProperty("verbena.foreignMemory", "");

    @Override
    protected String scheme() {
        return "shm";
    }

    @Override
    protected Transport open(TransportContext context) {
        return super.open(
                FOREIGN.isEmpty()
                        ? context
                        : context.option(ShmTransportProvider.FOREIGN_OPTION, FOREIGN));
    }
}
