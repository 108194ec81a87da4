package dev.verbena.dart;

/** The way back over the shm provider. */
@SampledByDay(isWholeAtFirst = true)
class DartReverseOverShmTest extends DartReverseContract {
    @Override
    protected String scheme() {
        return "shm";
    }
}
