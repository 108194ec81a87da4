package dev.verbena.ugni.transport;

import dev.verbena.SampledByDay;
import dev.verbena.dart.DartRestartContract;

/** DART when its receiver is killed, over the uGNI provider. */
@SampledByDay
class DartRestartOverGniTest extends DartRestartContract {
    @Override
    protected String scheme() {
        return "gni";
    }
}
