package dev.verbena.dart;

/** DART over the shm provider when processes are killed. */
class DartKillOverShmTest extends DartKillContract {
    @Override
    protected String scheme() {
        return "shm";
    }
}
