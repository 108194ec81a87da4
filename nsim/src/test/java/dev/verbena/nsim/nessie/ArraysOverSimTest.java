package dev.verbena.nsim.nessie;

import dev.verbena.SampledByDay;
import dev.verbena.nessie.service.ArrayServiceContract;
import dev.verbena.nsim.world.World;
import org.junit.jupiter.api.extension.ExtendWith;

/** The array service over a simulated network, with real clocks and files. */
@SampledByDay(isWholeAtFirst = true, parts = 3)
@ExtendWith(SimulatedNics.class)
class ArraysOverSimTest extends ArrayServiceContract {
    @Override
    protected String scheme() {
        return World.SCHEME;
    }
}
