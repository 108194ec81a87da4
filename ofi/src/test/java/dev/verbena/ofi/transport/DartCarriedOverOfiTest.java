package dev.verbena.ofi.transport;

import dev.verbena.SampledByDay;
import dev.verbena.dart.DartContract;
import org.junit.jupiter.api.extension.ExtendWith;

/** DART's suite over shm, its receiver reached over libfabric's provider tcp. */
@SampledByDay
@ExtendWith(NeedsLibfabric.class)
class DartCarriedOverOfiTest extends DartContract {
    @Override
    protected String scheme() {
        return "shm>ofi";
    }
}
