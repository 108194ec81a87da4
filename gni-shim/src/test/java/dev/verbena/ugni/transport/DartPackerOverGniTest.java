package dev.verbena.ugni.transport;

import dev.verbena.dart.DartPackerContract;
import dev.verbena.dart.SampledByDay;

/** DART's suite over the uGNI provider. */
@SampledByDay
class DartPackerOverGniTest extends DartPackerContract {
    @Override
    protected String scheme() {
        return "gni";
    }
}
