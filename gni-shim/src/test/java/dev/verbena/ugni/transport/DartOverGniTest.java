package dev.verbena.ugni.transport;

import dev.verbena.dart.DartContract;
import dev.verbena.dart.SampledByDay;

/** DART's suite over the uGNI provider. */
@SampledByDay
class DartOverGniTest extends DartContract {
    @Override
    protected String scheme() {
        return "gni";
    }
}
