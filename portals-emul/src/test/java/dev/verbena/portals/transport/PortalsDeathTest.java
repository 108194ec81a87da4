package dev.verbena.portals.transport;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.SampledByDay;
import dev.verbena.transport.Transport;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.TransportDeathContract;

/** A peer that is killed or stopped while it sends and puts, over the Portals provider. */
@SampledByDay(isWholeAtFirst = true, parts = 3)
class PortalsDeathTest extends TransportDeathContract {
    @Override
    protected String scheme() {
        return "portals";
    }

    @Override
    protected Transport open(TransportContext context) {
        return PortalsTransportProvider.open(context, null);
    }

    @Override
    protected void expectSound(Transport transport) {
        PortalsTransport portals = (PortalsTransport) transport;
        assertThat(portals.resources().ni.findFault()).isNull();
        assertThat(portals.statistics().linkedDescriptors()).isEqualTo(3);
    }
}
