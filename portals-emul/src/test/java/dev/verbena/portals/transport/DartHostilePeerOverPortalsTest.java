package dev.verbena.portals.transport;

import dev.verbena.SampledByDay;
import dev.verbena.dart.DartHostilePeerContract;

/** Hostile processes of the same job, over the Portals provider. */
@SampledByDay
class DartHostilePeerOverPortalsTest extends DartHostilePeerContract {
    @Override
    protected String scheme() {
        return "portals";
    }
}
