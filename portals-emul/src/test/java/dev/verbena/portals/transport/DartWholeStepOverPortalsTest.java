package dev.verbena.portals.transport;

import dev.verbena.dart.DartWholeStepContract;
import dev.verbena.dart.SampledByDay;

/** Whole steps over the Portals provider. */
@SampledByDay
class DartWholeStepOverPortalsTest extends DartWholeStepContract {
    @Override
    protected String scheme() {
        return "portals";
    }
}
