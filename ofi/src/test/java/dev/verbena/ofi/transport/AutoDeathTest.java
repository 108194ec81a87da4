package dev.verbena.ofi.transport;

import dev.verbena.SampledByDay;
import dev.verbena.transport.TransportDeathContract;
import org.junit.jupiter.api.extension.ExtendWith;

/** A peer that is killed or stopped while it sends and puts, over the part of shared memory. */
@SampledByDay(daily = "shouldWakeASleeperWhenThePeerIsKilled")
@ExtendWith(NeedsLibfabric.class)
class AutoDeathTest extends TransportDeathContract {
    @Override
    protected String scheme() {
        return "auto";
    }
}
