package dev.verbena.portals.transport;

import dev.verbena.SampledByDay;
import dev.verbena.dart.DartPackerContract;

/** DART's suite over the Portals provider. */
@SampledByDay
class DartPackerOverPortalsTest extends DartPackerContract {
    @Override
    protected String scheme() {
        return "portals";
    }
}
