package dev.verbena.nsim.nessie;

import dev.verbena.nessie.nnti.BufferFlags;
import dev.verbena.nessie.nnti.NntiBuffer;
import dev.verbena.nessie.rpc.ClientRequest;
import dev.verbena.nessie.rpc.RpcCall;
import dev.verbena.nessie.rpc.RpcEndpoint;
import dev.verbena.nessie.rpc.RpcResult;
import dev.verbena.nessie.rpc.RpcServer;
import dev.verbena.nessie.rpc.RpcServerOptions;
import dev.verbena.nessie.rpc.ServiceSearch;
import dev.verbena.nsim.network.NetworkContext;
import dev.verbena.nsim.topology.Topology;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * How much bulk data one server moves for several clients, each on a node of its own (benchmark B2
 * of the specification). Virtual time; nothing of this machine's speed is in it.
 */
public final class NessieScaling {
    private static final int WRITE = 1;
    private static final int READ = 2;
    private static final int LENGTH = 4 << 20;
    private static final int OUTSTANDING = 4;
    private static final int CALLS = 8;
    private static final int SLOTS = 8;
    private static final long TIMEOUT_MS = 60_000;
    private static final long LIMIT_NS = 600_000_000_000L;

    private NessieScaling() {}

    /**
     * Runs.
     *
     * @param topology has a node for each client and one for the server, which takes the first
     * @param isWrite the server gets the clients' data; otherwise it puts into them
     * @return payload of all clients in bytes for each second of virtual time
     * @throws IllegalStateException if a call fails
     */
    public static double bytesPerSecond(
            Topology topology, NetworkContext network, int clients, boolean isWrite) {
        try (NessieSimulation simulation = new NessieSimulation(1, topology, network)) {
            // Of bulk data only the time counts.
            simulation.world().sizeOnlyAbove(LENGTH - 1);
            Server server = new Server();
            simulation.start("server", server);
            List<Client> started = new ArrayList<>();
            for (int i = 0; i < clients; i++) {
                started.add(new Client(server, isWrite ? WRITE : READ));
                simulation.start("client" + i, started.get(i));
            }
            boolean isReady = simulation.world().runUntil(() -> areReady(started), LIMIT_NS);
            long begin = simulation.world().nowNs();
            started.forEach(Client::begin);
            boolean isDone = simulation.world().runUntil(() -> areDone(started), LIMIT_NS);
            if (!isReady || !isDone) {
                throw new IllegalStateException("the calls of " + clients + " clients did not end");
            }
            long ns = simulation.world().nowNs() - begin;
            return (double) clients * CALLS * LENGTH * 1e9 / ns;
        }
    }

    private static boolean areReady(List<Client> clients) {
        return clients.stream().allMatch(Client::isReady);
    }

    private static boolean areDone(List<Client> clients) {
        return clients.stream().allMatch(client -> client.ended == CALLS);
    }

    private static final class Server implements NessieSimulation.Program {
        private String url;

        @Override
        public void onStart(RpcEndpoint endpoint) {
            RpcServer server = endpoint.serve(RpcServerOptions.DEFAULT.withSlots(SLOTS, LENGTH));
            server.registerWithSlot(WRITE, null, Server::onWrite);
            server.registerWithSlot(READ, null, Server::onRead);
            url = endpoint.transport().url();
        }

        private static void onWrite(RpcCall call) {
            RpcResult started =
                    call.startGetData(
                            call.slot(),
                            0,
                            call.dataLength(),
                            0,
                            result -> call.reply(result.code(), null));
            requireOk(started);
        }

        private static void onRead(RpcCall call) {
            RpcResult started =
                    call.startPutData(
                            call.slot(),
                            0,
                            call.dataLength(),
                            0,
                            result -> call.reply(result.code(), null));
            requireOk(started);
        }

        private static void requireOk(RpcResult result) {
            if (result != RpcResult.OK) {
                throw new IllegalStateException("no transfer: " + result);
            }
        }

        @Override
        public int doWork() {
            return 0;
        }
    }

    private static final class Client implements NessieSimulation.Program {
        private final Server server;
        private final int opcode;
        private final ClientRequest[] requests = new ClientRequest[OUTSTANDING];
        private NntiBuffer data;
        private RpcEndpoint endpoint;
        private ServiceSearch search;
        private boolean isBegun;
        private int started;
        private int ended;

        Client(Server server, int opcode) {
            this.server = server;
            this.opcode = opcode;
        }

        @Override
        public void onStart(RpcEndpoint itsEndpoint) {
            endpoint = itsEndpoint;
            endpoint.client().register(opcode);
            int flags = BufferFlags.GET_SRC | BufferFlags.PUT_DST;
            data = endpoint.transport().alloc(LENGTH, 1, flags);
            Arrays.setAll(requests, i -> new ClientRequest());
        }

        boolean isReady() {
            return search != null && search.isDone();
        }

        void begin() {
            isBegun = true;
        }

        @Override
        public int doWork() {
            if (search == null && server.url != null) {
                search = endpoint.client().search(server.url, TIMEOUT_MS);
            }
            if (search == null || !search.isDone()) {
                return search == null ? 1 : search.look();
            }
            int work = 0;
            if (isBegun) {
                while (ended < started && requests[ended % OUTSTANDING].isDone()) {
                    requireOk(requests[ended % OUTSTANDING]);
                    ended++;
                    work++;
                }
                while (started < CALLS && started - ended < OUTSTANDING) {
                    start(started % OUTSTANDING);
                    started++;
                    work++;
                }
            }
            // Before it begins nothing but the caller makes work: it looks again.
            return isBegun ? work : 1;
        }

        private void start(int index) {
            endpoint.client()
                    .call(
                            requests[index],
                            search.service(),
                            opcode,
                            null,
                            null,
                            data,
                            LENGTH,
                            TIMEOUT_MS);
        }

        private static void requireOk(ClientRequest request) {
            if (request.result() != RpcResult.OK || request.remoteCode() != 0) {
                throw new IllegalStateException(
                        "a call failed: " + request.result() + ", " + request.remoteCode());
            }
        }
    }
}
