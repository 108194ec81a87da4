package dev.verbena.portals.transport;

import dev.verbena.SampledByDay;
import dev.verbena.dart.DartSpillLossContract;

/** Spilled messages that cannot be read again, over the portals provider. */
@SampledByDay
class DartSpillLossOverPortalsTest extends DartSpillLossContract {
    @Override
    protected String scheme() {
        return "portals";
    }
}
