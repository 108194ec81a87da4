package dev.verbena.portals.transport;

import dev.verbena.dart.DartReverseContract;

/** The way back over the Portals provider. */
class DartReverseOverPortalsTest extends DartReverseContract {
    @Override
    protected String scheme() {
        return "portals";
    }
}
