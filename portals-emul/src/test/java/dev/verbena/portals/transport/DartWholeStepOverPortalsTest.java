package dev.verbena.portals.transport;

import dev.verbena.dart.DartWholeStepContract;

/** Whole steps over the Portals provider. */
class DartWholeStepOverPortalsTest extends DartWholeStepContract {
    @Override
    protected String scheme() {
        return "portals";
    }
}
