package dev.verbena.ugni.transport;

import dev.verbena.dart.DartFlatMemoryContract;
import dev.verbena.dart.SampledByDay;

/** DART's memory, however many messages pass, over the uGNI provider. */
@SampledByDay
class DartFlatMemoryOverGniTest extends DartFlatMemoryContract {
    @Override
    protected String scheme() {
        return "gni";
    }
}
