package dev.verbena.ofi.transport;

import dev.verbena.dart.DartCarriedStreamContract;
import org.junit.jupiter.api.extension.ExtendWith;

/** Streams to the receiver over libfabric's provider tcp. */
@ExtendWith(NeedsLibfabric.class)
class DartCarriedStreamOverOfiTest extends DartCarriedStreamContract {
    @Override
    protected String scheme() {
        return "ofi";
    }
}
