package dev.verbena.portals.transport;

import dev.verbena.SampledByDay;
import dev.verbena.dart.DartFlatMemoryContract;

/** DART's memory, however many messages pass, over the Portals provider. */
@SampledByDay
class DartFlatMemoryOverPortalsTest extends DartFlatMemoryContract {
    @Override
    protected String scheme() {
        return "portals";
    }
}
