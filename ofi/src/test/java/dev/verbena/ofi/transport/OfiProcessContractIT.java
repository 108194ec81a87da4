package dev.verbena.ofi.transport;

import dev.verbena.transport.TransportProcessContract;
import org.junit.jupiter.api.extension.ExtendWith;

/** Peers that are killed, stopped and restarted, over libfabric. */
@ExtendWith(NeedsLibfabric.class)
class OfiProcessContractIT extends TransportProcessContract {
    @Override
    protected String scheme() {
        return "ofi";
    }

    @Override
    protected String remedyOfSilence() {
        return "check the MTU";
    }
}
