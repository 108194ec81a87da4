package dev.verbena.portals.transport;

import dev.verbena.SampledByDay;
import dev.verbena.dart.DartRestartContract;

/** A receiver that is killed and started again, reached over the Portals provider. */
@SampledByDay
class DartRestartCarriedOverPortalsTest extends DartRestartContract {
    @Override
    protected String scheme() {
        return "shm>portals";
    }
}
