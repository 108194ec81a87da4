package dev.verbena.ugni.transport;

import dev.verbena.SampledByDay;
import dev.verbena.dart.DartStreamContract;

/** DART's streams when TCP, the disk or the peer misbehaves, over the uGNI provider. */
@SampledByDay
class DartStreamOverGniTest extends DartStreamContract {
    @Override
    protected String scheme() {
        return "gni";
    }
}
