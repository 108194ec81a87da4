package dev.verbena.dart;

import dev.verbena.SampledByDay;

/** DART when its receiver is killed, over the shm provider. */
@SampledByDay(isWholeAtFirst = true)
class DartRestartOverShmTest extends DartRestartContract {
    @Override
    protected String scheme() {
        return "shm";
    }
}
