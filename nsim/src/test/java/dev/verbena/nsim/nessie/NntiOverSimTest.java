package dev.verbena.nsim.nessie;

import dev.verbena.SampledByDay;
import dev.verbena.nessie.nnti.NntiContract;
import dev.verbena.nsim.world.World;
import org.junit.jupiter.api.extension.ExtendWith;

/** NNTI in virtual time. */
@SampledByDay(isWholeAtFirst = true, parts = 3)
@ExtendWith(SimulatedNics.class)
class NntiOverSimTest extends NntiContract {
    @Override
    protected String scheme() {
        return World.SCHEME;
    }
}
