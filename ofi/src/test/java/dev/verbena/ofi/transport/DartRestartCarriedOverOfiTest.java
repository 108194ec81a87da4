package dev.verbena.ofi.transport;

import dev.verbena.SampledByDay;
import dev.verbena.dart.DartRestartContract;
import org.junit.jupiter.api.extension.ExtendWith;

/** A receiver that is killed and started again, reached over libfabric's provider tcp. */
@SampledByDay
@ExtendWith(NeedsLibfabric.class)
class DartRestartCarriedOverOfiTest extends DartRestartContract {
    @Override
    protected String scheme() {
        return "shm>ofi";
    }
}
