package dev.verbena.ofi.transport;

import dev.verbena.SampledByDay;
import dev.verbena.nessie.nnti.NntiContract;
import org.junit.jupiter.api.extension.ExtendWith;

/** NNTI over libfabric's provider tcp. */
@SampledByDay(parts = 3)
@ExtendWith(NeedsLibfabric.class)
class NntiOverOfiTest extends NntiContract {
    @Override
    protected String scheme() {
        return "ofi";
    }
}
