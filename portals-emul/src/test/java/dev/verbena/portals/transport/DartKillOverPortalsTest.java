package dev.verbena.portals.transport;

import dev.verbena.dart.DartKillContract;

/** DART over the Portals provider when processes are killed. */
class DartKillOverPortalsTest extends DartKillContract {
    @Override
    protected String scheme() {
        return "portals";
    }
}
