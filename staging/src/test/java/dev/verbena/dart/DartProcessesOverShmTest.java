package dev.verbena.dart;

import dev.verbena.SampledByDay;

/** DART with a process for each part, over the shm provider. */
@SampledByDay(isWholeAtFirst = true)
class DartProcessesOverShmTest extends DartProcessesContract {
    @Override
    protected String scheme() {
        return "shm";
    }
}
