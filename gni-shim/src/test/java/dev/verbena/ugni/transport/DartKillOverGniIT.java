package dev.verbena.ugni.transport;

import dev.verbena.SampledByDay;
import dev.verbena.dart.DartKillContract;

/** DART over the uGNI provider when processes are killed. */
@SampledByDay
class DartKillOverGniIT extends DartKillContract {
    @Override
    protected String scheme() {
        return "gni";
    }
}
