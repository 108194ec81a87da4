package dev.verbena.dart;

import dev.verbena.SampledByDay;
import org.junit.jupiter.api.Tag;

/** DART over the shm provider when processes are killed. */
@Tag("each-jdk")
@SampledByDay(isWholeAtFirst = true)
class DartKillOverShmIT extends DartKillContract {
    @Override
    protected String scheme() {
        return "shm";
    }
}
