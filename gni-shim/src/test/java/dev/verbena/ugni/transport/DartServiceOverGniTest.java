package dev.verbena.ugni.transport;

import dev.verbena.SampledByDay;
import dev.verbena.dart.DartServiceContract;

/** What DART's servers do beside transferring, over the portals provider. */
@SampledByDay
class DartServiceOverGniTest extends DartServiceContract {
    @Override
    protected String scheme() {
        return "gni";
    }
}
