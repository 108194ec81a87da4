package dev.verbena.dart;

/** {@link DartPackerContract} over the software NIC. */
class DartPackerOverShmTest extends DartPackerContract {
    @Override
    protected String scheme() {
        return "shm";
    }
}
