package dev.verbena.ugni.transport;

import dev.verbena.dart.DartSpillLossContract;

/** Spilled messages that cannot be read again, over the portals provider. */
class DartSpillLossOverGniTest extends DartSpillLossContract {
    @Override
    protected String scheme() {
        return "gni";
    }
}
