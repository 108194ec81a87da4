package dev.verbena.dart;

/** A receiver that is killed and started again, reached over the shm provider. */
@SampledByDay(isWholeAtFirst = true)
class DartRestartCarriedOverShmTest extends DartRestartContract {
    @Override
    protected String scheme() {
        return "shm>shm";
    }
}
