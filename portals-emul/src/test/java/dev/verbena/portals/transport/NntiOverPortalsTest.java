package dev.verbena.portals.transport;

import dev.verbena.SampledByDay;
import dev.verbena.nessie.nnti.NntiContract;

/** NNTI over the Portals provider. */
@SampledByDay(parts = 3)
class NntiOverPortalsTest extends NntiContract {
    @Override
    protected String scheme() {
        return "portals";
    }
}
