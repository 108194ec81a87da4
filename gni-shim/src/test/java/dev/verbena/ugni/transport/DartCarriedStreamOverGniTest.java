package dev.verbena.ugni.transport;

import dev.verbena.dart.DartCarriedStreamContract;
import dev.verbena.dart.SampledByDay;

/** Streams to the receiver over the uGNI provider. */
@SampledByDay
class DartCarriedStreamOverGniTest extends DartCarriedStreamContract {
    @Override
    protected String scheme() {
        return "gni";
    }
}
