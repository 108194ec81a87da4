package dev.verbena.dart;

import dev.verbena.SampledByDay;

/** DART when processes are killed, the receiver reached over the shm provider, too. */
@SampledByDay
class DartKillCarriedOverShmTest extends DartKillContract {
    @Override
    protected String scheme() {
        return "shm>shm";
    }
}
