package dev.verbena.ugni.transport;

import dev.verbena.dart.DartReverseContract;
import dev.verbena.dart.SampledByDay;

/** The way back over the uGNI provider. */
@SampledByDay
class DartReverseOverGniTest extends DartReverseContract {
    @Override
    protected String scheme() {
        return "gni";
    }
}
