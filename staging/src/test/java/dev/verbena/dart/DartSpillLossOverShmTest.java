package dev.verbena.dart;

/** Spilled messages that cannot be read again, over the shm provider. */
class DartSpillLossOverShmTest extends DartSpillLossContract {
    @Override
    protected String scheme() {
        return "shm";
    }
}
