package dev.verbena.dart;

import dev.verbena.SampledByDay;

/** Whole steps over the shm provider. */
@SampledByDay(isWholeAtFirst = true)
class DartWholeStepOverShmTest extends DartWholeStepContract {
    @Override
    protected String scheme() {
        return "shm";
    }
}
