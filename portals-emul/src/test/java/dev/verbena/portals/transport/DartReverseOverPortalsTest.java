package dev.verbena.portals.transport;

import dev.verbena.dart.DartReverseContract;
import dev.verbena.dart.SampledByDay;

/** The way back over the Portals provider. */
@SampledByDay
class DartReverseOverPortalsTest extends DartReverseContract {
    @Override
    protected String scheme() {
        return "portals";
    }
}
