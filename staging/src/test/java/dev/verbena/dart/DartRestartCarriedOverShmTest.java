package dev.verbena.dart;

import dev.verbena.SampledByDay;

/** A receiver that is killed and started again, reached over the shm provider. */
@SampledByDay(parts = 3)
class DartRestartCarriedOverShmTest extends DartRestartContract {
    @Override
    protected String scheme() {
        return "shm>shm";
    }
}
