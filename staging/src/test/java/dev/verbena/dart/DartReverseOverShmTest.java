package dev.verbena.dart;

import dev.verbena.SampledByDay;

/** The way back over the shm provider. */
@SampledByDay(isWholeAtFirst = true)
class DartReverseOverShmTest extends DartReverseContract {
    @Override
    protected String scheme() {
        return "shm";
    }
}
