package dev.verbena.portals.transport;

import dev.verbena.SampledByDay;
import dev.verbena.dart.DartContract;

/** DART's suite over the Portals provider. */
@SampledByDay
class DartOverPortalsTest extends DartContract {
    @Override
    protected String scheme() {
        return "portals";
    }
}
