package dev.verbena.portals.transport;

import dev.verbena.dart.DartLossContract;

/** Lost processes with a service over the Portals provider. */
class DartLossOverPortalsTest extends DartLossContract {
    @Override
    protected String scheme() {
        return "portals";
    }
}
