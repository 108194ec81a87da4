package dev.verbena.ugni.transport;

import dev.verbena.SampledByDay;
import dev.verbena.nessie.nnti.NntiContract;

/** NNTI over the uGNI provider. */
@SampledByDay(parts = 3)
class NntiOverGniTest extends NntiContract {
    @Override
    protected String scheme() {
        return "gni";
    }
}
