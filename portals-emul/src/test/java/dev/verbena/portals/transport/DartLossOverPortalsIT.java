package dev.verbena.portals.transport;

import dev.verbena.SampledByDay;
import dev.verbena.dart.DartLossContract;

/** Lost processes with a service over the Portals provider. */
@SampledByDay
class DartLossOverPortalsIT extends DartLossContract {
    @Override
    protected String scheme() {
        return "portals";
    }
}
