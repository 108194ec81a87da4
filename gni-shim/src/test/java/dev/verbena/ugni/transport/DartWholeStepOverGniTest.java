package dev.verbena.ugni.transport;

import dev.verbena.dart.DartWholeStepContract;
import dev.verbena.dart.SampledByDay;

/** Whole steps over the uGNI provider. */
@SampledByDay
class DartWholeStepOverGniTest extends DartWholeStepContract {
    @Override
    protected String scheme() {
        return "gni";
    }
}
