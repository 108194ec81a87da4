package dev.verbena.dart;

import dev.verbena.SampledByDay;

/** Silence between server and receiver with a service over the shm provider. */
@SampledByDay(isWholeAtFirst = true)
class DartSilenceOverShmIT extends DartSilenceContract {
    @Override
    protected String scheme() {
        return "shm";
    }
}
