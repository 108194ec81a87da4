package dev.verbena.dart;

import dev.verbena.SampledByDay;

/** DART's suite where the receiver is reached over the shm provider, too. */
@SampledByDay
class DartCarriedOverShmTest extends DartContract {
    @Override
    protected String scheme() {
        return "shm>shm";
    }
}
