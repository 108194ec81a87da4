package dev.verbena.portals.transport;

import dev.verbena.SampledByDay;
import dev.verbena.dart.DartKillContract;

/** DART over the Portals provider when processes are killed. */
@SampledByDay
class DartKillOverPortalsIT extends DartKillContract {
    @Override
    protected String scheme() {
        return "portals";
    }
}
