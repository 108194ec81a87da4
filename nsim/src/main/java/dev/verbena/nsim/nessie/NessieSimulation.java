package dev.verbena.nsim.nessie;

import dev.verbena.agent.ProtocolAgent;
import dev.verbena.nessie.nnti.NntiOptions;
import dev.verbena.nessie.nnti.NntiTransport;
import dev.verbena.nessie.rpc.RpcEndpoint;
import dev.verbena.nsim.network.NetworkContext;
import dev.verbena.nsim.topology.Topology;
import dev.verbena.nsim.world.SimulatedProcess;
import dev.verbena.nsim.world.World;
import dev.verbena.transport.TransportContext;
import java.util.List;

/**
 * Servers and clients of remote procedures in virtual time: each is a process on a host of its own,
 * and runs the engines that everybody runs. One thread.
 */
public final class NessieSimulation implements AutoCloseable {
    private static final long PEER_TIMEOUT_NS = 50_000_000;

    private final World world;

    /** What a process does beside its endpoint. */
    public interface Program {
        /** Its endpoint is there. */
        void onStart(RpcEndpoint endpoint);

        /** After each cycle of the endpoint; work done. */
        int doWork();
    }

    /** Nothing runs yet. */
    public NessieSimulation(long seed, Topology topology, NetworkContext network) {
        this.world = new World(seed, topology, network);
    }

    /** Starts a process on a host of this name. */
    public SimulatedProcess start(String host, Program program) {
        SimulatedProcess process = world.host(host).start("nessie");
        return process.run(List.of(new Node(process, program)));
    }

    /** The network and its time. */
    public World world() {
        return world;
    }

    @Override
    public void close() {
        world.close();
    }

    private static final class Node implements ProtocolAgent {
        private final SimulatedProcess process;
        private final Program program;
        private RpcEndpoint endpoint;

        Node(SimulatedProcess process, Program program) {
            this.process = process;
            this.program = program;
        }

        @Override
        public void onStart() {
            TransportContext context = new TransportContext().peerTimeoutNs(PEER_TIMEOUT_NS);
            NntiTransport network =
                    new NntiTransport(
                            process.openTransport(World.SCHEME, context), NntiOptions.ONE_SIDED);
            endpoint = new RpcEndpoint(network, process.errorHandler());
            program.onStart(endpoint);
        }

        @Override
        public int doWork() {
            return endpoint.doWork() + program.doWork();
        }

        @Override
        public long nextDeadlineNs() {
            return endpoint.nextDeadlineNs();
        }

        @Override
        public void onClose() {
            endpoint.close();
        }

        @Override
        public String roleName() {
            return "nessie";
        }
    }
}
