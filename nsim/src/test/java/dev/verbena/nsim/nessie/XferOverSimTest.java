package dev.verbena.nsim.nessie;

import dev.verbena.SampledByDay;
import dev.verbena.nessie.xfer.XferContract;
import dev.verbena.nsim.world.World;
import org.junit.jupiter.api.extension.ExtendWith;

/** The transfer service in virtual time. */
@SampledByDay(isWholeAtFirst = true, parts = 3)
@ExtendWith(SimulatedNics.class)
class XferOverSimTest extends XferContract {
    @Override
    protected String scheme() {
        return World.SCHEME;
    }

    /** The virtual clock runs on while a server's thread waits for a processor. */
    @Override
    protected long limitMs() {
        return 86_400_000;
    }
}
