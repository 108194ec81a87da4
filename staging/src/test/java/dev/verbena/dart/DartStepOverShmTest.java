package dev.verbena.dart;

import dev.verbena.SampledByDay;

/** The two-step protocol over the shm provider. */
@SampledByDay(isWholeAtFirst = true)
class DartStepOverShmTest extends DartStepContract {
    @Override
    protected String scheme() {
        return "shm";
    }
}
