package dev.verbena.ugni.transport;

import dev.verbena.SampledByDay;
import dev.verbena.transport.TransportDeathContract;

/** A peer that is killed or stopped while it sends and puts, over the uGNI provider. */
@SampledByDay(isWholeAtFirst = true, parts = 3)
class GniDeathTest extends TransportDeathContract {
    @Override
    protected String scheme() {
        return "gni";
    }
}
