package dev.verbena.nsim.nessie;

import dev.verbena.SampledByDay;
import dev.verbena.nessie.rpc.RpcContract;
import dev.verbena.nsim.world.World;
import org.junit.jupiter.api.extension.ExtendWith;

/** Remote procedures in virtual time. */
@SampledByDay(isWholeAtFirst = true, parts = 3)
@ExtendWith(SimulatedNics.class)
class RpcOverSimTest extends RpcContract {
    @Override
    protected String scheme() {
        return World.SCHEME;
    }
}
