package dev.verbena.portals.transport;

import dev.verbena.SampledByDay;
import dev.verbena.dart.DartProcessesContract;

/** DART with a process for each part, over the Portals provider. */
@SampledByDay
class DartProcessesOverPortalsTest extends DartProcessesContract {
    @Override
    protected String scheme() {
        return "portals";
    }
}
