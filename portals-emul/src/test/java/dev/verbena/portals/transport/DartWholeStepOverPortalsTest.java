package dev.verbena.portals.transport;

import dev.verbena.SampledByDay;
import dev.verbena.dart.DartWholeStepContract;

/** Whole steps over the Portals provider. */
@SampledByDay
class DartWholeStepOverPortalsTest extends DartWholeStepContract {
    @Override
    protected String scheme() {
        return "portals";
    }
}
