package dev.verbena.dart;

import dev.verbena.SampledByDay;

/** {@link DartPackerContract} over the software NIC. */
@SampledByDay(isWholeAtFirst = true)
class DartPackerOverShmTest extends DartPackerContract {
    @Override
    protected String scheme() {
        return "shm";
    }
}
