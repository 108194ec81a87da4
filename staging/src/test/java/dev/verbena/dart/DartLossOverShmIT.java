package dev.verbena.dart;

import dev.verbena.SampledByDay;
import org.junit.jupiter.api.Tag;

/** Lost processes with a service over the shm provider. */
@Tag("each-jdk")
@SampledByDay(isWholeAtFirst = true)
class DartLossOverShmIT extends DartLossContract {
    @Override
    protected String scheme() {
        return "shm";
    }
}
