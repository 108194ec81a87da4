package dev.verbena.portals.transport;

import dev.verbena.dart.DartSpillLossContract;

/** Spilled messages that cannot be read again, over the portals provider. */
class DartSpillLossOverPortalsTest extends DartSpillLossContract {
    @Override
    protected String scheme() {
        return "portals";
    }
}
