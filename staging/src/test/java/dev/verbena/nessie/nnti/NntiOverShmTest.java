package dev.verbena.nessie.nnti;

/** NNTI over shm://. */
class NntiOverShmTest extends NntiContract {
    @Override
    protected String scheme() {
        return "shm";
    }

    @Override
    boolean isWhole() {
        return !Boolean.getBoolean("verbena.again") || super.isWhole();
    }
}
