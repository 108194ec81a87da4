package dev.verbena.dart;

import dev.verbena.SampledByDay;

/** DART over the shm provider. */
@SampledByDay(isWholeAtFirst = true)
class DartOverShmTest extends DartContract {
    @Override
    protected String scheme() {
        return "shm";
    }
}
