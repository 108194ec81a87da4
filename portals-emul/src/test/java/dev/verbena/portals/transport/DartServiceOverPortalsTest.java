package dev.verbena.portals.transport;

import dev.verbena.dart.DartServiceContract;

/** What DART's servers do beside transferring, over the portals provider. */
class DartServiceOverPortalsTest extends DartServiceContract {
    @Override
    protected String scheme() {
        return "portals";
    }
}
