package dev.verbena.ugni.transport;

import dev.verbena.dart.DartKillContract;
import dev.verbena.dart.SampledByDay;

/** DART over the uGNI provider when processes are killed. */
@SampledByDay
class DartKillOverGniTest extends DartKillContract {
    @Override
    protected String scheme() {
        return "gni";
    }
}
