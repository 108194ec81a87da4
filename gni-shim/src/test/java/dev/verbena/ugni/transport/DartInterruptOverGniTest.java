package dev.verbena.ugni.transport;

import dev.verbena.SampledByDay;
import dev.verbena.dart.DartInterruptContract;

/** Interrupted calls of DART over the portals provider. */
@SampledByDay
class DartInterruptOverGniTest extends DartInterruptContract {
    @Override
    protected String scheme() {
        return "gni";
    }
}
