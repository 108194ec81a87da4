package dev.verbena.ugni.transport;

import dev.verbena.SampledByDay;
import dev.verbena.dart.DartFlatMemoryContract;

/** DART's memory, however many messages pass, over the uGNI provider. */
@SampledByDay
class DartFlatMemoryOverGniTest extends DartFlatMemoryContract {
    @Override
    protected String scheme() {
        return "gni";
    }
}
