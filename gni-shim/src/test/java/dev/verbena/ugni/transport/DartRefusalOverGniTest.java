package dev.verbena.ugni.transport;

import dev.verbena.SampledByDay;
import dev.verbena.dart.DartRefusalContract;

/** Messages that the receiver would refuse, over the portals provider. */
@SampledByDay
class DartRefusalOverGniTest extends DartRefusalContract {
    @Override
    protected String scheme() {
        return "gni";
    }
}
