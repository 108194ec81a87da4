package dev.verbena.portals.transport;

import dev.verbena.SampledByDay;
import dev.verbena.dart.DartReverseContract;

/** The way back over the Portals provider. */
@SampledByDay
class DartReverseOverPortalsTest extends DartReverseContract {
    @Override
    protected String scheme() {
        return "portals";
    }
}
