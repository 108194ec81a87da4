package dev.verbena.portals.transport;

import dev.verbena.dart.DartHostilePeerContract;
import dev.verbena.dart.SampledByDay;

/** Hostile processes of the same job, over the Portals provider. */
@SampledByDay
class DartHostilePeerOverPortalsTest extends DartHostilePeerContract {
    @Override
    protected String scheme() {
        return "portals";
    }
}
