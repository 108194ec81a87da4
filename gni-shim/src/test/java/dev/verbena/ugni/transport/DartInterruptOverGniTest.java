package dev.verbena.ugni.transport;

import dev.verbena.dart.DartInterruptContract;
import dev.verbena.dart.SampledByDay;

/** Interrupted calls of DART over the portals provider. */
@SampledByDay
class DartInterruptOverGniTest extends DartInterruptContract {
    @Override
    protected String scheme() {
        return "gni";
    }
}
