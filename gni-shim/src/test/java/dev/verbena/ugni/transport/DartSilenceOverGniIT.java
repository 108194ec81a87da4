package dev.verbena.ugni.transport;

import dev.verbena.SampledByDay;
import dev.verbena.dart.DartSilenceContract;

/** Silence between server and receiver with a service over the uGNI provider. */
@SampledByDay
class DartSilenceOverGniIT extends DartSilenceContract {
    @Override
    protected String scheme() {
        return "gni";
    }
}
