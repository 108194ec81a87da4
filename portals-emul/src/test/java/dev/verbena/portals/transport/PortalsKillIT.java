package dev.verbena.portals.transport;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.transport.Transport;
import dev.verbena.transport.TransportKillContract;
import java.util.List;

/**
 * Java processes that die at labelled steps over the Portals provider: also while they hold the
 * lock of the survivor's lists, or have announced an event in its queue and not written it.
 */
class PortalsKillIT extends TransportKillContract {
    @Override
    protected String scheme() {
        return "portals";
    }

    @Override
    protected List<String> javaSteps() {
        return List.of(
                "java.portals.staged",
                "java.portals.sent",
                "java.portals.record",
                "java.portals.credits");
    }

    @Override
    protected int stepsMin() {
        return 30;
    }

    @Override
    protected long thirdTimesUntilNs() {
        return 100_000_000_000L;
    }

    @Override
    protected void check(Transport own, String when) {
        assertThat(((PortalsTransport) own).resources().ni.findFault()).as(when).isNull();
    }
}
