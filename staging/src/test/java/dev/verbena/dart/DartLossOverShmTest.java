package dev.verbena.dart;

import dev.verbena.SampledByDay;

/** Lost processes with a service over the shm provider. */
@SampledByDay(isWholeAtFirst = true)
class DartLossOverShmTest extends DartLossContract {
    @Override
    protected String scheme() {
        return "shm";
    }
}
