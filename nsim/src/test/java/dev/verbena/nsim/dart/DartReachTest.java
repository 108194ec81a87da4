package dev.verbena.nsim.dart;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.agent.StagingEvents;
import dev.verbena.nsim.network.NetworkContext;
import dev.verbena.nsim.topology.Topologies;
import dev.verbena.nsim.world.Host;
import dev.verbena.nsim.world.World;
import java.util.function.BiConsumer;
import org.junit.jupiter.api.Test;

/** A slave connects to the processes that the master gives it. */
class DartReachTest {
    private static final long SECOND = 1_000_000_000L;
    private static final int LENGTH = 1000;
    private static final int NODES = 2;

    /** Longer than a slave's connect waits, shorter than a process waits for a server. */
    private static final long CUT_NS = 7 * SECOND;

    @Test
    void shouldConnectAgainToAProcessThatWasOutOfReach() {
        NetworkContext network = new NetworkContext().isLoopback(true);
        try (World world = new World(1, Topologies.parse("switch(5)", network.tie()), network)) {
            DartCluster cluster = new DartCluster(world);
            cluster.receive(0, new DeliveryCheck(LENGTH, true, true), context -> {});
            for (int i = 0; i < NODES; i++) {
                cluster.serve(i, 0, StagingEvents.NONE, context -> context.serverCount(NODES));
            }
            assertThat(world.runUntil(cluster::isReady, 10 * SECOND)).isTrue();
            betweenSlaveAndNodes(world, world::cut);
            for (int rank = 0; rank < NODES; rank++) {
                cluster.compute(
                        new ComputeProcess.Plan(rank, 0, 1, LENGTH, 0, 1), true, context -> {});
            }
            world.run(CUT_NS);
            assertThat(cluster.deliveredCount()).as("by the master").isEqualTo(1);
            betweenSlaveAndNodes(world, world::heal);
            assertThat(world.runUntil(cluster::isComputingDone, 15 * SECOND)).isTrue();
            assertThat(cluster.computes).allMatch(compute -> compute.failure.isEmpty());
            assertThat(cluster.deliveredCount()).isEqualTo(NODES);
        }
    }

    private static void betweenSlaveAndNodes(World world, BiConsumer<Host, Host> change) {
        Host slave = world.host(DartCluster.server(1));
        for (int i = 0; i < NODES; i++) {
            Host node = world.host(DartCluster.node(i));
            change.accept(slave, node);
            change.accept(node, slave);
        }
    }
}
