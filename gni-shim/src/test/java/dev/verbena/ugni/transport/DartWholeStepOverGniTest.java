package dev.verbena.ugni.transport;

import dev.verbena.SampledByDay;
import dev.verbena.dart.DartWholeStepContract;

/** Whole steps over the uGNI provider. */
@SampledByDay
class DartWholeStepOverGniTest extends DartWholeStepContract {
    @Override
    protected String scheme() {
        return "gni";
    }
}
