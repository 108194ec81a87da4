package dev.verbena.dart;

import dev.verbena.SampledByDay;

/** Spilled messages that cannot be read again, over the shm provider. */
@SampledByDay(isWholeAtFirst = true)
class DartSpillLossOverShmTest extends DartSpillLossContract {
    @Override
    protected String scheme() {
        return "shm";
    }
}
