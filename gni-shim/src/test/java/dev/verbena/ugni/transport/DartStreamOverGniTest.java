package dev.verbena.ugni.transport;

import dev.verbena.dart.DartStreamContract;
import dev.verbena.dart.SampledByDay;

/** DART's streams when TCP, the disk or the peer misbehaves, over the uGNI provider. */
@SampledByDay
class DartStreamOverGniTest extends DartStreamContract {
    @Override
    protected String scheme() {
        return "gni";
    }
}
