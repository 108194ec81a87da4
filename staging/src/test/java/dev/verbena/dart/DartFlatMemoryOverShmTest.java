package dev.verbena.dart;

import dev.verbena.SampledByDay;

/** DART's memory, however many messages pass, over the shm provider. */
@SampledByDay(isWholeAtFirst = true)
class DartFlatMemoryOverShmTest extends DartFlatMemoryContract {
    @Override
    protected String scheme() {
        return "shm";
    }
}
