package dev.verbena.dart;

import dev.verbena.SampledByDay;

/** Interrupted calls of DART over the shm provider. */
@SampledByDay(isWholeAtFirst = true)
class DartInterruptOverShmTest extends DartInterruptContract {
    @Override
    protected String scheme() {
        return "shm";
    }
}
