package dev.verbena.ugni.transport;

import dev.verbena.SampledByDay;
import dev.verbena.dart.DartContract;

/** DART's suite over the uGNI provider. */
@SampledByDay
class DartOverGniTest extends DartContract {
    @Override
    protected String scheme() {
        return "gni";
    }
}
