package dev.verbena.ugni.transport;

import dev.verbena.SampledByDay;
import dev.verbena.dart.DartHostilePeerContract;

/** Hostile processes of the same job, over the uGNI provider. */
@SampledByDay
class DartHostilePeerOverGniTest extends DartHostilePeerContract {
    @Override
    protected String scheme() {
        return "gni";
    }
}
