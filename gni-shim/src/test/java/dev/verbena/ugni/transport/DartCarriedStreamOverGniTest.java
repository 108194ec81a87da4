package dev.verbena.ugni.transport;

import dev.verbena.SampledByDay;
import dev.verbena.dart.DartCarriedStreamContract;

/** Streams to the receiver over the uGNI provider. */
@SampledByDay
class DartCarriedStreamOverGniTest extends DartCarriedStreamContract {
    @Override
    protected String scheme() {
        return "gni";
    }
}
