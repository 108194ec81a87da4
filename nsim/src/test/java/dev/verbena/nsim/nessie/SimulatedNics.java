package dev.verbena.nsim.nessie;

import dev.verbena.nsim.network.NetworkContext;
import dev.verbena.nsim.topology.TreeTopology;
import dev.verbena.nsim.world.World;
import dev.verbena.transport.Transport;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.TransportProvider;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Simulated transports for suites that open them by scheme. Each test has a network of its own, on
 * which each transport is on the next host.
 */
public final class SimulatedNics
        implements TransportProvider, BeforeEachCallback, AfterEachCallback {
    private static final int HOSTS = 64;

    private static World world;
    private static int opened;

    @Override
    public void beforeEach(ExtensionContext context) {
        NetworkContext network = new NetworkContext().isLoopback(true).payload(16 << 10);
        opened = 0;
        world = new World(1, TreeTopology.single(HOSTS), network);
    }

    @Override
    public void afterEach(ExtensionContext context) {
        world.close();
    }

    @Override
    public String scheme() {
        return World.SCHEME;
    }

    @Override
    public String unavailabilityCause() {
        return null;
    }

    @Override
    public Transport open(TransportContext context) {
        synchronized (world) {
            return world.open(world.host("node" + opened++ % HOSTS).start("test"), context);
        }
    }
}
