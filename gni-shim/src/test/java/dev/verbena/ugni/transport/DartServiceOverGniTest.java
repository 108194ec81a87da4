package dev.verbena.ugni.transport;

import dev.verbena.dart.DartServiceContract;

/** What DART's servers do beside transferring, over the portals provider. */
class DartServiceOverGniTest extends DartServiceContract {
    @Override
    protected String scheme() {
        return "gni";
    }
}
