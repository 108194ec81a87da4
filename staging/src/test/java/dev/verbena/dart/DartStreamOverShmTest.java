package dev.verbena.dart;

import dev.verbena.SampledByDay;

/** DART's streams when TCP, the disk or the peer misbehaves, over the shm provider. */
@SampledByDay(isWholeAtFirst = true)
class DartStreamOverShmTest extends DartStreamContract {
    @Override
    protected String scheme() {
        return "shm";
    }
}
