package dev.verbena.portals.transport;

import dev.verbena.dart.DartContract;
import dev.verbena.dart.SampledByDay;

/** DART's suite over the Portals provider. */
@SampledByDay
class DartOverPortalsTest extends DartContract {
    @Override
    protected String scheme() {
        return "portals";
    }
}
