package dev.verbena.ugni.transport;

import dev.verbena.SampledByDay;
import dev.verbena.dart.DartPackerContract;

/** DART's suite over the uGNI provider. */
@SampledByDay
class DartPackerOverGniTest extends DartPackerContract {
    @Override
    protected String scheme() {
        return "gni";
    }
}
