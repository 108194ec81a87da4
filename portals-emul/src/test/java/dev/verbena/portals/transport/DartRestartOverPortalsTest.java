package dev.verbena.portals.transport;

import dev.verbena.SampledByDay;
import dev.verbena.dart.DartRestartContract;

/** DART when its receiver is killed, over the Portals provider. */
@SampledByDay
class DartRestartOverPortalsTest extends DartRestartContract {
    @Override
    protected String scheme() {
        return "portals";
    }
}
