package dev.verbena.dart;

import dev.verbena.SampledByDay;

/** Messages that the receiver would refuse, over the shm provider. */
@SampledByDay(isWholeAtFirst = true)
class DartRefusalOverShmTest extends DartRefusalContract {
    @Override
    protected String scheme() {
        return "shm";
    }
}
