package dev.verbena.ofi.transport;

import dev.verbena.SampledByDay;
import dev.verbena.transport.Transport;
import dev.verbena.transport.TransportDeathContract;
import java.net.URI;
import org.junit.jupiter.api.extension.ExtendWith;

/** A peer that is killed or stopped while it sends and puts, over the part of libfabric. */
@SampledByDay(daily = "shouldWakeASleeperWhenThePeerIsKilled")
@ExtendWith(NeedsLibfabric.class)
class AutoOfiDeathIT extends TransportDeathContract {
    @Override
    protected String scheme() {
        return "auto";
    }

    @Override
    protected URI address(Transport transport) {
        return URI.create(transport.uri() + "&use=ofi");
    }
}
