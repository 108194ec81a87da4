package dev.verbena.portals.transport;

import dev.verbena.dart.DartPackerContract;

/** DART's suite over the Portals provider. */
class DartPackerOverPortalsTest extends DartPackerContract {
    @Override
    protected String scheme() {
        return "portals";
    }
}
