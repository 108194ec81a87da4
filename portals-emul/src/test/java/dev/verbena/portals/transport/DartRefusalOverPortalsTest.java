package dev.verbena.portals.transport;

import dev.verbena.SampledByDay;
import dev.verbena.dart.DartRefusalContract;

/** Messages that the receiver would refuse, over the portals provider. */
@SampledByDay
class DartRefusalOverPortalsTest extends DartRefusalContract {
    @Override
    protected String scheme() {
        return "portals";
    }
}
