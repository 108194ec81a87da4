package dev.verbena.portals.transport;

import dev.verbena.SampledByDay;
import dev.verbena.dart.DartStreamContract;

/** DART's streams when TCP, the disk or the peer misbehaves, over the Portals provider. */
@SampledByDay
class DartStreamOverPortalsTest extends DartStreamContract {
    @Override
    protected String scheme() {
        return "portals";
    }
}
