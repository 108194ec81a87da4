package dev.verbena.ugni.transport;

import dev.verbena.dart.DartHostilePeerContract;
import dev.verbena.dart.SampledByDay;

/** Hostile processes of the same job, over the uGNI provider. */
@SampledByDay
class DartHostilePeerOverGniTest extends DartHostilePeerContract {
    @Override
    protected String scheme() {
        return "gni";
    }
}
