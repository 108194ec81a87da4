package dev.verbena.ugni.transport;

import dev.verbena.dart.DartServiceContract;
import dev.verbena.dart.SampledByDay;

/** What DART's servers do beside transferring, over the portals provider. */
@SampledByDay
class DartServiceOverGniTest extends DartServiceContract {
    @Override
    protected String scheme() {
        return "gni";
    }
}
