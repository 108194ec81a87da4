package dev.verbena.portals.transport;

import dev.verbena.dart.DartFlatMemoryContract;
import dev.verbena.dart.SampledByDay;

/** DART's memory, however many messages pass, over the Portals provider. */
@SampledByDay
class DartFlatMemoryOverPortalsTest extends DartFlatMemoryContract {
    @Override
    protected String scheme() {
        return "portals";
    }
}
