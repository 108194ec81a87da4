package dev.verbena.ugni.transport;

import dev.verbena.SampledByDay;
import dev.verbena.dart.DartRestartContract;

/** A receiver that is killed and started again, reached over the uGNI provider. */
@SampledByDay
class DartRestartCarriedOverGniTest extends DartRestartContract {
    @Override
    protected String scheme() {
        return "shm>gni";
    }
}
