package dev.verbena.dart;

import dev.verbena.SampledByDay;

/** Hostile processes of the same job, over the shm provider. */
@SampledByDay(isWholeAtFirst = true)
class DartHostilePeerOverShmTest extends DartHostilePeerContract {
    @Override
    protected String scheme() {
        return "shm";
    }
}
