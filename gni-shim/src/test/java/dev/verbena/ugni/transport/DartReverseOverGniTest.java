package dev.verbena.ugni.transport;

import dev.verbena.SampledByDay;
import dev.verbena.dart.DartReverseContract;

/** The way back over the uGNI provider. */
@SampledByDay
class DartReverseOverGniTest extends DartReverseContract {
    @Override
    protected String scheme() {
        return "gni";
    }
}
