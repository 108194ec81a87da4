package dev.verbena.portals.transport;

import dev.verbena.SampledByDay;
import dev.verbena.dart.DartStepContract;

/** DART's protocol and queues step by step over the Portals provider. */
@SampledByDay
class DartStepOverPortalsTest extends DartStepContract {
    @Override
    protected String scheme() {
        return "portals";
    }
}
