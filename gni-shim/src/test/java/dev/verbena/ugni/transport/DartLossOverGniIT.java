package dev.verbena.ugni.transport;

import dev.verbena.SampledByDay;
import dev.verbena.dart.DartLossContract;

/** Lost processes with a service over the uGNI provider. */
@SampledByDay
class DartLossOverGniIT extends DartLossContract {
    @Override
    protected String scheme() {
        return "gni";
    }
}
