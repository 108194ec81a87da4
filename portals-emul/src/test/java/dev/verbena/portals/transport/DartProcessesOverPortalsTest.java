package dev.verbena.portals.transport;

import dev.verbena.dart.DartProcessesContract;

/** DART with a process for each part, over the Portals provider. */
class DartProcessesOverPortalsTest extends DartProcessesContract {
    @Override
    protected String scheme() {
        return "portals";
    }
}
