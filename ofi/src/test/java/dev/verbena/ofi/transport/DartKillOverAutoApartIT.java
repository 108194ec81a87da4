package dev.verbena.ofi.transport;

import dev.verbena.SampledByDay;
import dev.verbena.dart.DartKillContract;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * DART over {@code auto} when processes are killed that are reached over libfabric, while others
 * share memory.
 */
@SampledByDay(
        daily = {
            "shouldGoOnWhenAClientIsKilledBetweenHeaderAndPull",
            "shouldFailTheClientsOfAKilledSlaveAtOnceAndNoOthers"
        })
@ExtendWith(NeedsLibfabric.class)
class DartKillOverAutoApartIT extends DartKillContract {
    @Override
    protected String scheme() {
        return "auto:apart";
    }
}
