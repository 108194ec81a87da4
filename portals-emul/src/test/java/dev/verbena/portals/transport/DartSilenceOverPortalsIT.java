package dev.verbena.portals.transport;

import dev.verbena.SampledByDay;
import dev.verbena.dart.DartSilenceContract;

/** Silence between server and receiver with a service over the Portals provider. */
@SampledByDay
class DartSilenceOverPortalsIT extends DartSilenceContract {
    @Override
    protected String scheme() {
        return "portals";
    }
}
