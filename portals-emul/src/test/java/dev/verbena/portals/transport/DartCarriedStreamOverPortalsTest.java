package dev.verbena.portals.transport;

import dev.verbena.SampledByDay;
import dev.verbena.dart.DartCarriedStreamContract;

/** Streams to the receiver over the Portals provider. */
@SampledByDay
class DartCarriedStreamOverPortalsTest extends DartCarriedStreamContract {
    @Override
    protected String scheme() {
        return "portals";
    }
}
