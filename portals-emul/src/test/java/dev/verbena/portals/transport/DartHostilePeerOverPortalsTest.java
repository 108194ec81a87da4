package dev.verbena.portals.transport;

import dev.verbena.dart.DartHostilePeerContract;

/** Hostile processes of the same job, over the Portals provider. */
class DartHostilePeerOverPortalsTest extends DartHostilePeerContract {
    @Override
    protected String scheme() {
        return "portals";
    }
}
