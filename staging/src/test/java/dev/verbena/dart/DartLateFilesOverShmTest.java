package dev.verbena.dart;

import dev.verbena.SampledByDay;

/** Late files of a killed server over the shm provider. */
@SampledByDay(isWholeAtFirst = true)
class DartLateFilesOverShmTest extends DartLateFilesContract {
    @Override
    protected String scheme() {
        return "shm";
    }
}
