package dev.verbena.nsim.world;

import dev.verbena.SampledByDay;
import dev.verbena.nsim.network.NetworkContext;
import dev.verbena.nsim.topology.TreeTopology;
import dev.verbena.transport.Transport;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.TransportContract;
import org.junit.jupiter.api.AfterEach;

/**
 * The contract suite in virtual time: every transport is on a host of its own behind one switch.
 */
@SampledByDay(isWholeAtFirst = true, parts = 3)
class SimulatedTransportContractTest extends TransportContract {
    private final World world =
            new World(
                    1,
                    TreeTopology.single(64),
                    new NetworkContext().isLoopback(true).payload(16 << 10));
    private int hosts;

    @Override
    protected String scheme() {
        return World.SCHEME;
    }

    @Override
    protected Transport open(TransportContext context) {
        synchronized (world) {
            return world.open(world.host("node" + hosts++ % 64).start("test"), context);
        }
    }

    /** Each event of the network is worked through. */
    @Override
    protected int times(int count) {
        return Math.max(1, count / 8);
    }

    @Override
    protected boolean isTimeVirtual() {
        return true;
    }

    @AfterEach
    void closeWorld() {
        world.close();
    }
}
