package dev.verbena.portals.transport;

import dev.verbena.SampledByDay;
import dev.verbena.dart.DartInterruptContract;

/** Interrupted calls of DART over the portals provider. */
@SampledByDay
class DartInterruptOverPortalsTest extends DartInterruptContract {
    @Override
    protected String scheme() {
        return "portals";
    }
}
