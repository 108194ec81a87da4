package dev.verbena.dart;

import dev.verbena.SampledByDay;

/** What DART's servers do beside transferring, over the shm provider. */
@SampledByDay(isWholeAtFirst = true)
class DartServiceOverShmTest extends DartServiceContract {
    @Override
    protected String scheme() {
        return "shm";
    }
}
