package dev.verbena.portals.transport;

import dev.verbena.dart.DartPackerContract;
import dev.verbena.dart.SampledByDay;

/** DART's suite over the Portals provider. */
@SampledByDay
class DartPackerOverPortalsTest extends DartPackerContract {
    @Override
    protected String scheme() {
        return "portals";
    }
}
