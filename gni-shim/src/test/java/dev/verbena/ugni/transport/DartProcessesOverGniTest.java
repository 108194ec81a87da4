package dev.verbena.ugni.transport;

import dev.verbena.SampledByDay;
import dev.verbena.dart.DartProcessesContract;

/** DART with a process for each part, over the uGNI provider. */
@SampledByDay
class DartProcessesOverGniTest extends DartProcessesContract {
    @Override
    protected String scheme() {
        return "gni";
    }
}
