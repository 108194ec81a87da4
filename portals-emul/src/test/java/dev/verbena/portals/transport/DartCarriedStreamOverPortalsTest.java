package dev.verbena.portals.transport;

import dev.verbena.dart.DartCarriedStreamContract;
import dev.verbena.dart.SampledByDay;

/** Streams to the receiver over the Portals provider. */
@SampledByDay
class DartCarriedStreamOverPortalsTest extends DartCarriedStreamContract {
    @Override
    protected String scheme() {
        return "portals";
    }
}
