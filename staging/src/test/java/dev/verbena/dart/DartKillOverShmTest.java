package dev.verbena.dart;

import dev.verbena.SampledByDay;

/** DART over the shm provider when processes are killed. */
@SampledByDay(isWholeAtFirst = true)
class DartKillOverShmTest extends DartKillContract {
    @Override
    protected String scheme() {
        return "shm";
    }
}
