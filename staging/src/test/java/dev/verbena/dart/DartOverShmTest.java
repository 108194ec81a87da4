package dev.verbena.dart;

/** DART over the shm provider. */
class DartOverShmTest extends DartContract {
    @Override
    protected String scheme() {
        return "shm";
    }
}
