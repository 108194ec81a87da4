package dev.verbena.ofi.transport;

import dev.verbena.SampledByDay;
import dev.verbena.transport.TransportDeathContract;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.ExtendWith;

/** A peer that is killed or stopped while it sends and puts, over libfabric. */
@Tag("each-jdk")
@ExtendWith(NeedsLibfabric.class)
@SampledByDay(isWholeAtFirst = true, parts = 3)
class OfiDeathIT extends TransportDeathContract {
    @Override
    protected String scheme() {
        return "ofi";
    }
}
