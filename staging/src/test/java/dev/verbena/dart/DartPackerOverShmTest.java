package dev.verbena.dart;

/** {@link DartPackerContract} over the software NIC. */
@SampledByDay(isWholeAtFirst = true)
class DartPackerOverShmTest extends DartPackerContract {
    @Override
    protected String scheme() {
        return "shm";
    }
}
