package dev.verbena.portals.transport;

import dev.verbena.dart.DartSilenceContract;

/** Silence between server and receiver with a service over the Portals provider. */
class DartSilenceOverPortalsTest extends DartSilenceContract {
    @Override
    protected String scheme() {
        return "portals";
    }
}
