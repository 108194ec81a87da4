package dev.verbena.dart;

/** DART's suite where the receiver is reached over the shm provider, too. */
@SampledByDay
class DartCarriedOverShmTest extends DartContract {
    @Override
    protected String scheme() {
        return "shm>shm";
    }
}
