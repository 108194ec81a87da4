package dev.verbena.portals.transport;

import dev.verbena.dart.DartInterruptContract;

/** Interrupted calls of DART over the portals provider. */
class DartInterruptOverPortalsTest extends DartInterruptContract {
    @Override
    protected String scheme() {
        return "portals";
    }
}
