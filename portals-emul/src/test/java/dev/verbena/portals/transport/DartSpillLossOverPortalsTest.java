package dev.verbena.portals.transport;

import dev.verbena.dart.DartSpillLossContract;
import dev.verbena.dart.SampledByDay;

/** Spilled messages that cannot be read again, over the portals provider. */
@SampledByDay
class DartSpillLossOverPortalsTest extends DartSpillLossContract {
    @Override
    protected String scheme() {
        return "portals";
    }
}
