package dev.verbena.ugni.transport;

import dev.verbena.transport.TransportProcessContract;
import org.junit.jupiter.api.Tag;

/** Peers that are killed, stopped and restarted, over the uGNI provider. */
@Tag("each-jdk")
class GniProcessContractIT extends TransportProcessContract {
    @Override
    protected String scheme() {
        return "gni";
    }
}
