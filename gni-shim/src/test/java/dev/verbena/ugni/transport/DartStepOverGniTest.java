package dev.verbena.ugni.transport;

import dev.verbena.SampledByDay;
import dev.verbena.dart.DartStepContract;

/** DART's protocol and queues step by step over the uGNI provider. */
@SampledByDay
class DartStepOverGniTest extends DartStepContract {
    @Override
    protected String scheme() {
        return "gni";
    }
}
